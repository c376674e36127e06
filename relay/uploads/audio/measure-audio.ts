import { type AudioFile, FRAMES_MAX, UNKNOWN_RATE_MIN, Windows } from './audio-file-reader.ts'
import { flacSeconds } from './flac-duration.ts'
import { mp3FrameAt } from './mp3-frame.ts'
import { mp4Seconds } from './mp4-duration.ts'
import { oggSeconds } from './ogg-duration.ts'
import { type WavData, wavSeconds } from './wav-duration.ts'
import { webmSeconds } from './webm-duration.ts'

/** The number of damaged bytes after which the search for the next frame ends. */
const LOST_BYTES_MAX = 1024 * 1024
/** The maximum number of bytes between frames that count as padding, and not as damaged audio. */
const PADDING_BYTES_MAX = 4_096
const EBML = 0x1a45dfa3
const ADTS_HEADER = 7

/**
 * Returns the duration of an audio file in seconds. The duration follows from the frames of the
 * audio, which decoders play. Headers that state a duration are not trusted, because a caller can
 * forge them. For a file in an unknown format, the duration is computed from the file's length in
 * bytes alone.
 */
export async function measureAudio(file: AudioFile): Promise<number> {
  const head = await file.read(0, 16)
  const behindTag = id3Length(head)
  const start = behindTag < file.bytes ? behindTag : 0
  const magic = start === 0 ? head : await file.read(start, 16)
  const measured = await measuredDuration(file, magic, start)
  if (measured !== null && Number.isFinite(measured)) return measured
  return (file.bytes - start) / UNKNOWN_RATE_MIN
}

async function measuredDuration(
  file: AudioFile,
  head: Buffer,
  from: number,
): Promise<number | null> {
  const magic = head.toString('latin1', 0, 4)
  const kind = head.toString('latin1', 8, 12)
  const search: Search = { headers: 0 }
  if (WAVE_MAGICS.has(magic) && kind === 'WAVE') {
    return wavSeconds(file, from, (part) => framesSeconds(file, part, search))
  }
  if (magic === 'fLaC') return flacSeconds(file, from)
  if (magic === 'OggS') return oggSeconds(file, from)
  if (magic === '#!AM') return amrSeconds(file, from)
  if (head.toString('latin1', 4, 8) === 'ftyp') return mp4Seconds(file, from)
  if (head.length >= 4 && head.readUInt32BE(0) === EBML) return webmSeconds(file, from)
  // Decoders search for the first frame after a tag.
  const isTagged = from > 0 || magic.startsWith('ID3')
  const isFrame = head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0
  const whole = { start: from, end: file.bytes }
  return isTagged || isFrame ? framesSeconds(file, whole, search) : null
}

/** The first bytes of WAV files. Files of more than 4 GiB begin with `RF64` or `BW64`. */
const WAVE_MAGICS = new Set(['RIFF', 'RF64', 'BW64'])

/** Counts the headers that were read in all parts of a file. */
type Search = { headers: number }

/**
 * Returns the duration in seconds of a part of a file, from its MP3 frames or its AAC frames in
 * ADTS format. Damaged data between frames counts as audio of the same bit rate. Returns null if
 * there are no frames. The number of headers that are read is limited for the whole file. Without
 * this limit, a caller could block the event loop with a file that consists of headers or tags.
 */
async function framesSeconds(
  file: AudioFile,
  { start, end }: WavData,
  search: Search,
): Promise<number | null> {
  const windows = new Windows(file, start)
  let [total, framesBytes, lost, tagEnd] = [0, 0, 0, 0]
  while (windows.at < end) {
    const pending = windows.peek(32)
    const bytes = pending instanceof Promise ? await pending : pending
    if (bytes.length < ADTS_HEADER) break
    search.headers += 1
    if (lost > LOST_BYTES_MAX || search.headers > FRAMES_MAX) {
      return total + (lost + end - windows.at) / UNKNOWN_RATE_MIN
    }
    const frame = mp3FrameAt(bytes, 0) ?? adtsFrame(bytes)
    if (frame === null) {
      // Decoders also search for frames within a tag, unless it is the first tag of the file.
      if (windows.at >= tagEnd) tagEnd = windows.at + tagLength(bytes)
      const skipped = lengthWithoutHeader(bytes, end - windows.at)
      lost += countNonZero(bytes, Math.max(0, tagEnd - windows.at), skipped)
      windows.at += skipped
    } else {
      framesBytes += frame.bytes
      total += frame.seconds
      windows.at += frame.bytes
    }
  }
  if (total === 0) return null
  return lost > PADDING_BYTES_MAX ? total + lost * (total / framesBytes) : total
}

/** The first bytes of frames (0xff) and of the tags `TAG`, `ID3` and `APETAGEX`. */
const [FRAME_BYTE, T, I, A] = [0xff, 0x54, 0x49, 0x41]

/**
 * Returns the number of bytes before the next byte with which a frame or a tag may begin. The first
 * byte is not examined. A plain loop is fast enough for files that consist of padding.
 */
function lengthWithoutHeader(bytes: Buffer, most: number): number {
  const end = Math.min(bytes.length, most)
  for (let at = 1; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === FRAME_BYTE || byte === T || byte === I || byte === A) return at
  }
  return end
}

/** Counts the bytes that are not zero, because decoders skip zeros as padding. */
function countNonZero(bytes: Buffer, from: number, end: number): number {
  let count = 0
  for (let at = from; at < end; at += 1) if (bytes[at] !== 0) count += 1
  return count
}

/**
 * Returns the length of the tag (with a title or a picture, for example) at the start of `bytes`,
 * or 0 if there is none.
 */
function tagLength(bytes: Buffer): number {
  const first = bytes[0]
  if (first !== T && first !== I && first !== A) return 0
  const name = bytes.toString('latin1', 0, 8)
  if (name.startsWith('TAG')) return ID3V1_BYTES
  if (name.startsWith('ID3')) return id3Length(bytes)
  // The length in a header of APE excludes the header.
  return name === 'APETAGEX' && bytes.length >= 16 ? bytes.readUInt32LE(12) + 32 : 0
}

const ID3V1_BYTES = 128
const ID3_VERSION_MAX = 4

/**
 * Returns the length of the ID3 tag at the start of `bytes`, or 0 if there is none. Decoders treat
 * a tag with an unknown version, unknown flags or an invalid length as audio.
 */
function id3Length(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'ID3') return 0
  const [version = 0, , flags = 0, a = 0, b = 0, c = 0, d = 0] = bytes.subarray(3, 10)
  if (version > ID3_VERSION_MAX || (flags & 15) !== 0 || ((a | b | c | d) & 128) !== 0) return 0
  const footer = (flags & 16) === 0 ? 0 : 10
  return 10 + ((a << 21) | (b << 14) | (c << 7) | d) + footer
}

const AAC_RATES = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025],
  ...[8_000, 7_350],
]

function adtsFrame(bytes: Buffer): { readonly bytes: number; readonly seconds: number } | null {
  if (bytes[0] !== FRAME_BYTE || ((bytes[1] ?? 0) & 0xf6) !== 0xf0) return null
  const [third = 0, fourth = 0, fifth = 0] = [bytes[2], bytes[3], bytes[4]]
  const [sixth = 0, seventh = 0] = [bytes[5], bytes[6]]
  const rate = AAC_RATES[(third >> 2) & 15]
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5)
  if (rate === undefined || length < ADTS_HEADER) return null
  return { bytes: length, seconds: (1_024 * ((seventh & 3) + 1)) / rate }
}

const AMR_FRAME_SECONDS = 0.02
/** The lengths of the frames of AMR and AMR-WB in bytes, by their type (RFC 4867, section 5.3). */
const AMR_BYTES = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
const AMR_WB_BYTES = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]

/** Returns the duration in seconds of a file of AMR, whose frames last 20 milliseconds each. */
async function amrSeconds(file: AudioFile, from: number): Promise<number | null> {
  const head = (await file.read(from, 16)).toString('latin1')
  const isWide = head.startsWith('#!AMR-WB\n')
  if (!isWide && !head.startsWith('#!AMR\n')) return null
  const windows = new Windows(file, from + (isWide ? 9 : 6))
  let seconds = 0
  for (let frames = 0; windows.at < file.bytes && frames < FRAMES_MAX; frames += 1) {
    const pending = windows.peek(1)
    const bytes = pending instanceof Promise ? await pending : pending
    const type = ((bytes[0] ?? 0) >> 3) & 15
    seconds += AMR_FRAME_SECONDS
    windows.at += (isWide ? AMR_WB_BYTES : AMR_BYTES)[type] ?? 1
  }
  return seconds + Math.max(0, file.bytes - windows.at) / UNKNOWN_RATE_MIN
}
