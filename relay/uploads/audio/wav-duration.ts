import { type AudioFile, UNKNOWN_RATE_MIN } from './audio-file-reader.ts'

/** The format of the samples in a WAV file. */
type SampleFormat = {
  readonly tag: number
  readonly channels: number
  readonly sampleRate: number
  /** The length of a block in bytes. A block holds one or many samples of each channel. */
  readonly blockBytes: number
  readonly bits: number
}

/** The part of a file that contains samples. */
export type WavData = { readonly start: number; readonly end: number }

const [PCM, MS_ADPCM, FLOAT, A_LAW, MU_LAW, IMA_ADPCM] = [1, 2, 3, 6, 7, 0x11]
const [GSM, MPEG, MP3, EXTENSIBLE] = [0x31, 0x50, 0x55, 0xfffe]
const UNCOMPRESSED: ReadonlySet<number> = new Set([PCM, FLOAT, A_LAW, MU_LAW])
/** The largest values that real files have. A header with larger values is rejected. */
const [SAMPLE_RATE_MAX, CHANNELS_MAX, BITS_MAX] = [768_000, 32, 64]
const CHUNKS_MAX = 1_000
/** The types of chunks that may follow the samples and contain no audio. */
const WITHOUT_AUDIO = new Set(
  'LIST,id3 ,ID3 ,bext,iXML,cue ,smpl,fact,PEAK,_PMX,axml,JUNK,acid,inst'.split(','),
)

/**
 * Returns the duration in seconds of the WAV file that begins at an offset. The duration follows
 * from the number of bytes of the samples and from their format. Returns null if the header is
 * malformed or the file has no format or no samples. `measureFrames` measures a part of the file
 * that consists of MP3 frames.
 */
export async function wavSeconds(
  file: AudioFile,
  from: number,
  measureFrames: (part: WavData) => Promise<number | null>,
): Promise<number | null> {
  let format: SampleFormat | null = null
  const parts: WavData[] = []
  let at = from + 12
  for (let chunks = 0; chunks < CHUNKS_MAX && at + 8 <= file.bytes; chunks += 1) {
    const chunk = await file.read(at, 48)
    if (chunk.length < 8) return null
    const id = chunk.toString('latin1', 0, 4)
    const length = chunk.readUInt32LE(4)
    if (id === 'fmt ') format ??= formatOf(chunk.subarray(8))
    if (id === 'data') {
      const end = await endOfSamples(file, at + 8, length)
      parts.push({ start: at + 8, end })
      if (end === file.bytes) break
    }
    at += 8 + length + (length % 2)
  }
  if (format === null || parts.length === 0) return null
  const isFrames = format.tag === MP3 || format.tag === MPEG
  let seconds = 0
  // Decoders play all chunks of samples.
  for (const part of parts) {
    const ofPart = isFrames ? await measureFrames(part) : secondsOf(format, part.end - part.start)
    seconds += ofPart ?? (part.end - part.start) / UNKNOWN_RATE_MIN
  }
  return seconds
}

function formatOf(bytes: Buffer): SampleFormat | null {
  if (bytes.length < 16) return null
  const own = bytes.readUInt16LE(0)
  // The first two bytes of the identifier in an extensible header are the tag of the format.
  const tag = own === EXTENSIBLE && bytes.length >= 26 ? bytes.readUInt16LE(24) : own
  const format = {
    tag,
    channels: bytes.readUInt16LE(2),
    sampleRate: bytes.readUInt32LE(4),
    blockBytes: bytes.readUInt16LE(12),
    bits: bytes.readUInt16LE(14),
  }
  const { channels, sampleRate, bits } = format
  const isReal = sampleRate <= SAMPLE_RATE_MAX && channels <= CHANNELS_MAX && bits <= BITS_MAX
  return isReal && channels > 0 && sampleRate > 0 ? format : null
}

/**
 * Returns the offset at which the samples end. The length in the header counts only if a chunk
 * without audio follows. In all other cases, many programs play everything up to the end of the
 * file.
 */
async function endOfSamples(file: AudioFile, start: number, length: number): Promise<number> {
  const end = start + length
  const next = end + (length % 2)
  if (next + 8 > file.bytes) return file.bytes
  const chunk = await file.read(next, 8)
  const isMetadata = chunk.length === 8 && WITHOUT_AUDIO.has(chunk.toString('latin1', 0, 4))
  return isMetadata && next + 8 + chunk.readUInt32LE(4) <= file.bytes ? end : file.bytes
}

/**
 * Returns the duration of samples in seconds. The byte rate in the header is ignored, as decoders
 * ignore it. If the header contradicts itself, the smaller size of a sample is used. A compressed
 * format that is not listed counts as unknown.
 */
function secondsOf(format: SampleFormat, bytes: number): number {
  const { tag, channels, sampleRate, blockBytes, bits } = format
  if (UNCOMPRESSED.has(tag)) {
    const stated = channels * Math.ceil((bits || 8) / 8)
    return bytes / (sampleRate * (blockBytes === 0 ? stated : Math.min(stated, blockBytes)))
  }
  const samples = samplesPerBlock(format)
  if (samples === null || samples <= 0) return bytes / UNKNOWN_RATE_MIN
  return ((bytes / blockBytes) * samples) / sampleRate
}

/** Returns the number of samples of one channel in a block, or null for an unknown format. */
function samplesPerBlock({ tag, channels, blockBytes, bits }: SampleFormat): number | null {
  if (blockBytes === 0) return null
  if (tag === GSM) return blockBytes === 65 ? 320 : null
  if (tag === MS_ADPCM) return 2 + ((blockBytes - 7 * channels) * 2) / channels
  const isIma = tag === IMA_ADPCM && bits >= 2 && bits <= 5
  return isIma ? 1 + ((blockBytes - 4 * channels) * 8) / (bits * channels) : null
}
