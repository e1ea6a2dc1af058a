// QR code of a text as SVG.
import createCode from 'qrcode-generator'

/** Modules of white around the code (ISO/IEC 18004 §9.1). */
const quietZone = 4

export function QrCode({ text, label }: { text: string; label: string }) {
  const code = createCode(0, 'M')
  code.addData(text)
  code.make()
  const count = code.getModuleCount()
  let path = ''
  for (let row = 0; row < count; row++)
    for (let column = 0; column < count; column++)
      if (code.isDark(row, column)) path += `M${column + quietZone} ${row + quietZone}h1v1h-1z`
  const size = count + 2 * quietZone
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  )
}
