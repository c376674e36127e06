import { type AudioFile, FRAMES_MAX, UNKNOWN_RATE_MIN } from './audio-file-reader.ts'

/** One frame of FLAC. `sampleRate` is 0 if the frame refers to the header of the file. */
export type FlacFrame = { readonly samples: number; readonly sampleRate: number }

const RATES = [
  ...[0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000],
]
const FRAME_HEADER_MAX = 16

/** The table of the checksum with the polynomial x^8 + x^2 + x + 1. */
const CRC_TABLE = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 128 ? ((crc << 1) ^ 7) & 255 : crc << 1
  return crc
})

/**
 * Reads the header of a FLAC frame (RFC 9639, section 9.1). Returns null if no frame with a correct
 * checksum begins at the offset, because decoders ignore a frame with a wrong checksum.
 */
export function flacFrameAt(bytes: Buffer, at: number): FlacFrame | null {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return null
  const [sizes = 0, channels = 0] = [bytes[at + 2], bytes[at + 3]]
  const [block, rate] = [sizes >> 4, sizes & 15]
  if (block === 0 || rate === 15 || channels >> 4 > 10 || (channels & 1) === 1) return null
  const numberBytes = codedNumberLength(bytes[at + 4] ?? 0)
  if (numberBytes === 0) return null
  const blockBytes = block === 6 ? 1 : block === 7 ? 2 : 0
  const rateBytes = rate === 12 ? 1 : rate === 13 || rate === 14 ? 2 : 0
  const blockAt = at + 4 + numberBytes
  const rateAt = blockAt + blockBytes
  const end = rateAt + rateBytes
  if (end >= bytes.length) return null
  let crc = 0
  for (let index = at; index < end; index += 1) crc = CRC_TABLE[crc ^ (bytes[index] ?? 0)] ?? 0
  if (crc !== bytes[end]) return null
  const ownSize = blockBytes === 0 ? 0 : bytes.readUIntBE(blockAt, blockBytes) + 1
  const ownRate = rateBytes === 0 ? 0 : bytes.readUIntBE(rateAt, rateBytes)
  const unit = rate === 12 ? 1_000 : rate === 14 ? 10 : 1
  return {
    samples: blockBytes === 0 ? blockSizeOf(block) : ownSize,
    sampleRate: rateBytes === 0 ? (RATES[rate] ?? 0) : ownRate * unit,
  }
}

function blockSizeOf(code: number): number {
  if (code === 1) return 192
  return code <= 5 ? 576 << (code - 2) : 256 << (code - 8)
}

/** Returns the length in bytes of a number that is coded as in UTF-8, or 0 if it is invalid. */
function codedNumberLength(first: number): number {
  const ones = Math.clz32(~(first << 24))
  if (ones === 0) return 1
  return ones >= 2 && ones <= 7 ? ones : 0
}

/** Returns the sample rate in the block STREAMINFO, which begins at the offset. */
export const flacSampleRate = (bytes: Buffer, at: number): number =>
  bytes.readUIntBE(at + 10, 3) >>> 4

const SCANNED_BYTES = 256 * 1024

/**
 * Returns the duration in seconds of the FLAC file that begins at an offset. The duration is the
 * sum of all frames, because decoders ignore the number of samples in the header. If the file has
 * no frame, its duration follows from the header and the length of the file. Returns null if the
 * file is too short for its header, or if no sample rate is known.
 */
export async function flacSeconds(file: AudioFile, from: number): Promise<number | null> {
  const head = await file.read(from, 42)
  if (head.length < 26) return null
  const packed = head.readUInt32BE(18)
  const headerRate = flacSampleRate(head, 8)
  let [seconds, frames, candidates] = [0, 0, 0]
  for (let start = from + 4; start < file.bytes; start += SCANNED_BYTES) {
    if (candidates > FRAMES_MAX) return seconds + (file.bytes - start) / UNKNOWN_RATE_MIN
    const bytes = await file.read(start, SCANNED_BYTES + FRAME_HEADER_MAX)
    for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
      if (at >= SCANNED_BYTES) break
      candidates += 1
      const frame = flacFrameAt(bytes, at)
      const sampleRate = frame?.sampleRate || headerRate
      if (frame === null || sampleRate === 0) continue
      frames += 1
      seconds += frame.samples / sampleRate
    }
  }
  if (frames > 0) return seconds
  if (headerRate === 0) return null
  const channels = ((packed >>> 9) & 7) + 1
  const bits = ((packed >>> 4) & 31) + 1
  const samples = (packed & 15) * 2 ** 32 + head.readUInt32BE(22)
  // Compressed samples need at most as many bytes as uncompressed samples, so the file has at least
  // this duration.
  const least = (file.bytes - from) / ((headerRate * channels * bits) / 8)
  return Math.max(samples / headerRate, least)
}
