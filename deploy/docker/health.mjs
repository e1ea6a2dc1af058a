// Health check of the image. Workers have no API: they respond at metrics.bind, as servers do.
const { STACKROOM_METRICS__BIND: bind, STACKROOM_APPLICATION__PORT: port } = process.env
const url = bind ? `http://${bind}/health/ready` : `http://127.0.0.1:${port || 8080}/api/v1/health`
const response = await fetch(url, { signal: AbortSignal.timeout(8_000) }).catch(error => error)
process.exitCode = response.ok ? 0 : 1
if (!response.ok) process.stdout.write(`${url}: ${response.status ?? response.cause ?? response}\n`)
