import type { SpooledFile } from './spooled-file.ts'

/**
 * The maximum length of the index in bytes. A longer index is not read. The index of six hours of
 * audio is shorter.
 */
const INDEX_BYTES_MAX = 4 * 1024 * 1024
const BOXES_MAX = 10_000
const AAC_FRAME_SAMPLES = 1_024
/** The boxes of an MP4 file that contain other boxes (ISO/IEC 14496-12). */
const CONTAINERS = new Set(['trak', 'mdia', 'minf', 'stbl', 'mvex'])

/**
 * Returns the duration of an MP4 or M4A file in seconds. Returns null if the file has no index or
 * no duration, as fragmented files do. The result is at least the duration of the frames in the
 * index, because players play all frames, even if the header states a shorter duration.
 */
export async function measureMp4({
  bytes,
  read,
}: Pick<SpooledFile, 'bytes' | 'read'>): Promise<number | null> {
  let at = 0
  for (let boxes = 0; boxes < BOXES_MAX && at + 8 <= bytes; boxes += 1) {
    const header = await read(at, 16)
    const { type, length, start } = boxAt(header, 0, bytes - at)
    if (length < 8) return null
    if (type === 'moov') {
      if (length > INDEX_BYTES_MAX) return null
      return longestOf(await read(at + start, length - start))
    }
    if (type === 'moof') return null
    at += length
  }
  return null
}

/**
 * Reads the header of the box at the offset `at`. Returns the type and length of the box, and
 * `start`, the length of the header. In a header, a length of 0 means the rest of the file.
 */
function boxAt(bytes: Buffer, at: number, rest: number) {
  if (at + 8 > bytes.length) return { type: '', length: 0, start: 0 }
  const type = bytes.toString('latin1', at + 4, at + 8)
  const length = bytes.readUInt32BE(at)
  if (length === 0) return { type, length: rest, start: 8 }
  if (length !== 1 || at + 16 > bytes.length) return { type, length, start: 8 }
  return { type, length: Number(bytes.readBigUInt64BE(at + 8)), start: 16 }
}

type Track = { timescale: number; seconds: number; isAac: boolean }

function longestOf(index: Buffer): number | null {
  const track: Track = { timescale: 0, seconds: 0, isAac: false }
  const pending = [index]
  let left = BOXES_MAX
  for (let bytes = pending.pop(); bytes !== undefined; bytes = pending.pop()) {
    for (let at = 0; at + 8 <= bytes.length && left > 0; left -= 1) {
      const { type, length, start } = boxAt(bytes, at, bytes.length - at)
      if (length < start || at + length > bytes.length) break
      const content = bytes.subarray(at + start, at + length)
      if (CONTAINERS.has(type)) pending.push(content)
      else note(track, type, content)
      at += length
    }
  }
  return track.seconds > 0 ? track.seconds : null
}

/**
 * Reads one box of a track and raises `track.seconds` to the duration that the box states. The
 * boxes must be read in the order of the file, because the box with the time scale precedes the box
 * with the samples.
 */
function note(track: Track, type: string, content: Buffer): void {
  const longer = (seconds: number): void => {
    if (Number.isFinite(seconds)) track.seconds = Math.max(track.seconds, seconds)
  }
  const isLong = content[0] === 1
  if ((type === 'mvhd' || type === 'mdhd') && content.length >= (isLong ? 32 : 20)) {
    const timescale = content.readUInt32BE(isLong ? 20 : 12)
    const duration = isLong ? Number(content.readBigUInt64BE(24)) : content.readUInt32BE(16)
    // The highest possible value means that the duration is unknown.
    if (duration < (isLong ? Number.MAX_SAFE_INTEGER : 0xffff_ffff)) longer(duration / timescale)
    if (type === 'mdhd') track.timescale = timescale
  } else if (type === 'stsd') {
    track.isAac = content.toString('latin1', 12, 16) === 'mp4a'
  } else if (type === 'stsz' && content.length >= 12 && track.isAac) {
    longer((content.readUInt32BE(8) * AAC_FRAME_SAMPLES) / track.timescale)
  }
}
