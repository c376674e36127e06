import { mp3FrameAt } from './mp3-frame.ts'
import { measureMp4 } from './mp4-duration.ts'
import type { SpooledFile } from './spooled-file.ts'

type AudioFile = Pick<SpooledFile, 'bytes' | 'read'>

const HEAD_BYTES = 64 * 1024
const WINDOW_BYTES = 256 * 1024
/**
 * The number of bytes per second that is assumed for audio of an unknown format. Real audio has at
 * least as many.
 */
const UNKNOWN_RATE_MIN = 2_000
/** The maximum number of bytes per second of compressed audio. */
const COMPRESSED_RATE_MAX = 250_000
/** In damaged data, the search for the next frame ends after this many bytes. */
const LOST_BYTES_MAX = 1024 * 1024
/**
 * The maximum number of frames that are read, which is about a day of audio. The duration of the
 * rest of a file is estimated from its length.
 */
const FRAMES_MAX = 4_000_000

/**
 * Returns the duration of an audio file in seconds, as the headers in the file state it. The caller
 * could forge these headers. The result is therefore at least the duration of a file of this length
 * at the highest usual bit rate. For a file in an unknown format, the duration is computed from the
 * length alone.
 */
export async function measureAudio(file: AudioFile): Promise<number> {
  const head = await file.read(0, HEAD_BYTES)
  const measured = await measuredDuration(file, head)
  if (measured === null || !Number.isFinite(measured)) return file.bytes / UNKNOWN_RATE_MIN
  return Math.max(measured, file.bytes / COMPRESSED_RATE_MAX)
}

async function measuredDuration(file: AudioFile, head: Buffer): Promise<number | null> {
  const magic = head.toString('latin1', 0, 4)
  if (magic === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE') return wavSeconds(file, head)
  if (magic === 'fLaC') return flacSeconds(file, head)
  if (magic === 'OggS') return oggSeconds(file)
  if (head.toString('latin1', 4, 8) === 'ftyp') return measureMp4(file)
  if (head.length >= 4 && head.readUInt32BE(0) === EBML) return webmSeconds(file, head)
  if (magic.startsWith('ID3') || (head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0)) {
    return framesSeconds(file, head)
  }
  return null
}

/**
 * Returns the duration of a WAV file in seconds, or null if its header is malformed. It is computed
 * from the length of the file, because the length in the header may be forged.
 */
function wavSeconds({ bytes }: AudioFile, head: Buffer): number | null {
  let at = 12
  let rate = 0
  while (at + 8 <= head.length) {
    const id = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    if (id === 'fmt ' && at + 24 <= head.length) {
      const samples = head.readUInt32LE(at + 12) * head.readUInt16LE(at + 10)
      rate = (samples * (head.readUInt16LE(at + 22) || 8)) / 8
    }
    if (id === 'data') return rate > 0 ? (bytes - at - 8) / rate : null
    at += 8 + length + (length % 2)
  }
  return null
}

function flacSeconds({ bytes }: AudioFile, head: Buffer): number | null {
  if (head.length < 26) return null
  const packed = head.readUInt32BE(18)
  const sampleRate = packed >>> 12
  if (sampleRate === 0) return null
  const channels = ((packed >>> 9) & 7) + 1
  const bits = ((packed >>> 4) & 31) + 1
  const samples = (packed & 15) * 2 ** 32 + head.readUInt32BE(22)
  // Compressed samples need at most as many bytes as uncompressed ones. The length of the file
  // therefore gives a lower bound of the duration.
  return Math.max(samples / sampleRate, bytes / ((sampleRate * channels * bits) / 8))
}

/**
 * Reads a file from its start to its end in pieces (windows), so that a long file needs little
 * memory. Each window is read asynchronously, so that other calls can run in between.
 */
class Windows {
  at = 0
  private readonly file: AudioFile
  private window: Buffer = Buffer.alloc(0)
  private start = 0

  constructor(file: AudioFile, at = 0) {
    this.file = file
    this.at = at
  }

  /**
   * Returns at least `length` bytes that begin at the offset `at`, or fewer at the end of the file.
   */
  peek(length: number): Buffer | Promise<Buffer> {
    const from = this.at - this.start
    if (from >= 0 && from + length <= this.window.length) return this.window.subarray(from)
    return this.load(length)
  }

  private async load(length: number): Promise<Buffer> {
    this.start = this.at
    this.window = await this.file.read(this.at, Math.max(length, WINDOW_BYTES))
    return this.window
  }
}

const PAGE_HEADER = 27

/**
 * Returns the duration of an Ogg file in seconds, or null if it has no audio stream. It is the sum
 * of all streams in the file, because players play them one after another.
 */
async function oggSeconds(file: AudioFile): Promise<number | null> {
  const windows = new Windows(file)
  let total = 0
  let pages = 0
  let stream = { serial: -1, sampleRate: 0, samples: 0 }
  const end = (): void => {
    if (stream.sampleRate > 0) total += stream.samples / stream.sampleRate
  }
  for (; windows.at < file.bytes && pages < FRAMES_MAX; pages += 1) {
    const pending = windows.peek(PAGE_HEADER + 255 + 64)
    const page = pending instanceof Promise ? await pending : pending
    if (page.length < PAGE_HEADER || page.toString('latin1', 0, 4) !== 'OggS') break
    const segments = page[26] ?? 0
    let length = PAGE_HEADER + segments
    for (let index = 0; index < segments; index += 1) length += page[PAGE_HEADER + index] ?? 0
    const serial = page.readUInt32LE(14)
    const isFirst = ((page[5] ?? 0) & 2) !== 0
    if (isFirst || serial !== stream.serial) {
      end()
      const sampleRate = oggSampleRate(page, PAGE_HEADER + segments)
      stream = { serial, sampleRate: sampleRate || stream.sampleRate, samples: 0 }
    }
    const granule = page.readUInt32LE(6) + page.readInt32LE(10) * 2 ** 32
    if (granule > stream.samples) stream.samples = granule
    windows.at += length
  }
  end()
  // Bytes outside of pages are counted as audio of an unknown format.
  const rest = Math.max(0, file.bytes - windows.at)
  return total === 0 ? null : total + rest / UNKNOWN_RATE_MIN
}

function oggSampleRate(page: Buffer, at: number): number {
  if (page.toString('latin1', at, at + 8) === 'OpusHead') return 48_000
  if (page.toString('latin1', at + 1, at + 7) === 'vorbis' && page.length >= at + 16) {
    return page.readUInt32LE(at + 12)
  }
  return 0
}

/**
 * Returns the duration of an MP3 file or of an AAC file in ADTS format, in seconds. It is the sum
 * of the durations of all frames.
 */
async function framesSeconds(file: AudioFile, head: Buffer): Promise<number | null> {
  const windows = new Windows(file, id3Length(head))
  let total = 0
  let lost = 0
  let frames = 0
  while (windows.at < file.bytes) {
    const pending = windows.peek(16)
    const bytes = pending instanceof Promise ? await pending : pending
    if (bytes.length < 7) break
    if (lost > LOST_BYTES_MAX || frames > FRAMES_MAX) {
      return total + (file.bytes - windows.at) / UNKNOWN_RATE_MIN
    }
    const frame = mp3FrameAt(bytes, 0) ?? adtsFrame(bytes)
    if (frame === null) {
      lost += 1
      windows.at += 1
    } else {
      frames += 1
      total += frame.seconds
      windows.at += frame.bytes
    }
  }
  return total === 0 ? null : total
}

function id3Length(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10)
  return 10 + (((a & 127) << 21) | ((b & 127) << 14) | ((c & 127) << 7) | (d & 127))
}

const AAC_RATES = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025],
  ...[8_000, 7_350],
]

function adtsFrame(bytes: Buffer): { readonly bytes: number; readonly seconds: number } | null {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = bytes
  if (first !== 0xff || (second & 0xf6) !== 0xf0) return null
  const rate = AAC_RATES[(third >> 2) & 15]
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5)
  if (rate === undefined || length < 7) return null
  return { bytes: length, seconds: (1_024 * ((seventh & 3) + 1)) / rate }
}

const EBML = 0x1a45dfa3
const TIMESTAMP_SCALE = Buffer.from([0x2a, 0xd7, 0xb1])
const DURATION = Buffer.from([0x44, 0x89])
const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75])
const TAIL_BYTES = 1024 * 1024
const CLUSTER_TIMESTAMP = 0xe7

/**
 * Returns the duration of a WebM file in seconds, or null if it is not known. It is the duration in
 * the header or the start of the last cluster of audio, whichever is larger. The header may lack
 * the duration, because recorders in browsers do not write it.
 */
async function webmSeconds(file: AudioFile, head: Buffer): Promise<number | null> {
  const scaleAt = head.indexOf(TIMESTAMP_SCALE)
  const scale = scaleAt < 0 ? 1_000_000 : unsignedAt(head, scaleAt + 3)
  const durationAt = head.indexOf(DURATION)
  const ofHeader = durationAt < 0 ? 0 : floatAt(head, durationAt + 2)
  const from = Math.max(0, file.bytes - TAIL_BYTES)
  const tail = await file.read(from, TAIL_BYTES)
  const clusterAt = tail.lastIndexOf(CLUSTER)
  const timeAt = clusterAt < 0 ? -1 : tail.indexOf(CLUSTER_TIMESTAMP, clusterAt + 5)
  const isNear = timeAt >= 0 && timeAt < clusterAt + 16
  const ofCluster = isNear ? unsignedAt(tail, timeAt + 1) : 0
  // The duration of the last cluster is estimated from its number of bytes.
  const rest = clusterAt < 0 ? 0 : (tail.length - clusterAt) / UNKNOWN_RATE_MIN
  const seconds = (Math.max(ofHeader, ofCluster) * scale) / 1e9
  return seconds > 0 ? seconds + (ofHeader > 0 ? 0 : Math.min(rest, 5)) : null
}

function unsignedAt(bytes: Buffer, at: number): number {
  const length = (bytes[at] ?? 0) & 0x7f
  return length >= 1 && length <= 6 && at + 1 + length <= bytes.length
    ? bytes.readUIntBE(at + 1, length)
    : 0
}

function floatAt(bytes: Buffer, at: number): number {
  const length = (bytes[at] ?? 0) & 0x7f
  if (at + 1 + length > bytes.length) return 0
  if (length === 8) return bytes.readDoubleBE(at + 1)
  return length === 4 ? bytes.readFloatBE(at + 1) : 0
}
