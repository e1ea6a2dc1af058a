// Signatures and lengths of ZIP records (APPNOTE 4.3), as little-endian numbers.
export const LOCAL_HEADER = 0x04034b50
export const LOCAL_HEADER_BYTES = 30
export const DESCRIPTOR = 0x08074b50
export const CENTRAL_HEADER = 0x02014b50
export const CENTRAL_HEADER_BYTES = 46
export const END_RECORD = 0x06054b50
export const END_RECORD_BYTES = 22
export const ZIP64_END = 0x06064b50
export const ZIP64_END_BYTES = 56
export const ZIP64_LOCATOR = 0x07064b50
export const ZIP64_LOCATOR_BYTES = 20
