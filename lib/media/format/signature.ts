// Signatures of book files: whether a file is an archive, an EPUB or a PDF at all, judging by its two ends
// and without the format readers. Nothing else is served under any name.

/**
 * Bytes from the start of a file that `isBookFile` needs: programs in front of self-extracting archives are
 * smaller.
 */
export const signatureHeadBytes = 1024 * 1024
/** Bytes from its end: the longest ZIP end record with its comment. */
export const signatureTailBytes = 66 * 1024

const startsWith = [
  // ZIP: local header, end of an empty archive, split marker, marker of a single segment.
  ...['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', 'PK00PK'],
  // RAR 1.4, and 1.5 and later; 7z.
  ...['RE~^', 'Rar!\x1a\x07', '7z\xbc\xaf\x27\x1c'],
].map(signature => Buffer.from(signature, 'latin1'))
const endOfZip = Buffer.from('PK\x05\x06', 'latin1')
// May follow a program or other bytes.
const lateSignatures = ['PK\x03\x04', 'Rar!\x1a\x07'].map(text => Buffer.from(text, 'latin1'))

// PDF readers search for the header in the first kilobyte, and repair a file without it.
const pdfHead = /%PDF-|(?:^|[\r\n])\d{1,9} \d{1,5} obj\b/
const pdfTail = /\bstartxref\s+\d+|%%EOF\s*$/
const pdfBytes = 4096

/** `head` and `tail` may overlap. False for an empty file. */
export async function isBookFile(head: Buffer, tail: Buffer): Promise<boolean> {
  if (startsWith.some(signature => signature.equals(head.subarray(0, signature.length))))
    return true
  if (pdfHead.test(head.toString('latin1', 0, pdfBytes))) return true
  if (tail.includes(endOfZip) || lateSignatures.some(text => head.includes(text))) return true
  if (pdfTail.test(tail.toString('latin1', Math.max(0, tail.length - pdfBytes)))) return true
  const { isTarHeader } = await import('../archive/tar.ts')
  return isTarHeader(head)
}
