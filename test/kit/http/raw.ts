// Raw bytes to a server, and its response until it closes the connection.
import { once } from 'node:events'
import { connect } from 'node:net'

export async function sendBytes(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  let response = ''
  socket.on('data', chunk => {
    response += chunk
  })
  await once(socket, 'close')
  return response
}
