import { type AudioFile, FRAMES_MAX, UNKNOWN_RATE_MIN, Windows } from './audio-file-reader.ts'
import { flacFrameAt } from './flac-duration.ts'
import { mp3FrameAt } from './mp3-frame.ts'
import { aacCodec, secondsPerFrame } from './mp4-codec.ts'
import { opusPacketSeconds } from './opus-packet.ts'

/** The elements whose inner elements are read (RFC 9559). */
const CONTAINERS: ReadonlySet<number> = new Set([
  ...[0x18538067, 0x1f43b675, 0xa0, 0x1654ae6b, 0xae, 0x1549a966, 0xe1, 0x6d80, 0x6240, 0x5034],
])
const [TRACK_ENTRY, TRACK_NUMBER, CODEC, TRACK_TYPE] = [0xae, 0xd7, 0x86, 0x83]
const [TIMESTAMP_SCALE, DURATION, TIMESTAMP] = [0x2ad7b1, 0x4489, 0xe7]
const [SIMPLE_BLOCK, BLOCK] = [0xa3, 0xa1]
const [SAMPLING_FREQUENCY, CODEC_PRIVATE] = [0xb5, 0x63a2]
/**
 * The elements that state how frames are encoded: the encoding itself, its algorithm, and the bytes
 * that the algorithm removed from the start of every frame.
 */
const [CONTENT_ENCODING, ALGORITHM, REMOVED_BYTES] = [0x6240, 0x4254, 0x4255]
const REMOVES_BYTES = 3
/** The elements whose values are read. */
const VALUES: ReadonlySet<number> = new Set([
  ...[TRACK_NUMBER, CODEC, TRACK_TYPE, TIMESTAMP_SCALE, DURATION, TIMESTAMP],
  ...[SAMPLING_FREQUENCY, CODEC_PRIVATE, ALGORITHM, REMOVED_BYTES],
])
/** The longest duration of a packet of Opus, in seconds. */
const OPUS_PACKET_SECONDS_MAX = 0.12
/** The longest element that is read as a number or a short text, in bytes. */
const VALUE_BYTES_MAX = 64
/**
 * The elements that may be longer than `VALUE_BYTES_MAX`. Only their first `VALUE_BYTES_MAX` bytes
 * are read.
 */
const LONG_VALUES: ReadonlySet<number> = new Set([CODEC_PRIVATE, REMOVED_BYTES])
/** The maximum length of the part of a block that is read. */
const BLOCK_HEAD_BYTES = 65_536
/** The number of bytes at the start of a frame that determine its duration. */
const FRAME_HEAD_BYTES = 16
const TRACKS_MAX = 1_000
const AUDIO_TYPE = 2
const AAC_FRAME_SAMPLES = 1_024
/** The sample rate of a track that states none (RFC 9559), and the highest rate of AAC. */
const [DEFAULT_RATE, AAC_RATE_MAX] = [8_000, 96_000]
/** The maximum number of bytes per second of Vorbis, and of audio in a codec that is not listed. */
const [COMPRESSED_RATE_MAX, OTHER_RATE_MAX] = [62_500, 250_000]

type Codec = 'aac' | 'flac' | 'mpeg' | 'opus' | 'vorbis' | 'other'

type Track = {
  codec: Codec
  type: number
  /**
   * True if the frames are compressed again or lack their first bytes. `algorithm` tells which of
   * the two applies.
   */
  isEncoded: boolean
  algorithm: number
  /** The first bytes that were removed from all frames. */
  removed: Buffer
  sampleRate: number
  /** The settings of the decoder. */
  config: Buffer
  /** The duration in seconds of a frame of AAC; null until it is computed. */
  aacFrame: number | null
  /**
   * The duration of the frames so far, in seconds. It stays 0 if the frames do not tell their
   * duration.
   */
  seconds: number
  bytes: number
  /** The highest time of a block, in the units of the file. */
  lastTime: number
}

type Contents = {
  scale: number
  duration: number
  clusterTime: number
  /** The number of elements and frames that were read. */
  steps: number
  readonly tracks: Map<number, Track>
  /** The track whose elements are being read. */
  described: Track
}

/**
 * Returns the duration in seconds of the WebM or Matroska file that begins at an offset, or null if
 * it is not known. The duration is computed from the frames of the audio, because decoders play all
 * frames. The header is not trusted, because it can state any duration, and recorders in browsers
 * state none. The header counts only if the frames do not tell their duration.
 */
export async function webmSeconds(file: AudioFile, from: number): Promise<number | null> {
  const windows = new Windows(file, from)
  const described = emptyTrack()
  const tracks = new Map<number, Track>()
  const times = { scale: 1_000_000, duration: 0, clusterTime: 0 }
  const contents: Contents = { ...times, steps: 0, tracks, described }
  for (; windows.at < file.bytes; contents.steps += 1) {
    const pending = windows.peek(12)
    const bytes = pending instanceof Promise ? await pending : pending
    const element = elementAt(bytes)
    if (element === null) break
    const { id, start, length } = element
    if (id === TRACK_ENTRY) contents.described = emptyTrack()
    if (id === CONTENT_ENCODING) contents.described.isEncoded = true
    if (contents.steps > FRAMES_MAX) {
      return secondsOf(contents) + (file.bytes - windows.at) / UNKNOWN_RATE_MIN
    }
    if (!CONTAINERS.has(id)) {
      if (length === null) break
      const isBlock = id === SIMPLE_BLOCK || id === BLOCK
      const isValue = VALUES.has(id) && (length <= VALUE_BYTES_MAX || LONG_VALUES.has(id))
      if (isBlock || isValue) {
        const end = start + Math.min(length, isBlock ? BLOCK_HEAD_BYTES : VALUE_BYTES_MAX)
        const whole = bytes.length >= end ? bytes : windows.peek(end)
        const content = (whole instanceof Promise ? await whole : whole).subarray(start, end)
        if (isBlock) addBlock(contents, content, length)
        else note(contents, id, content)
      }
    }
    windows.at += start + (CONTAINERS.has(id) ? 0 : (length ?? 0))
  }
  const seconds = secondsOf(contents)
  return seconds > 0 ? seconds : null
}

const NOTHING = Buffer.alloc(0)

const emptyTrack = (): Track => ({
  ...{ codec: 'other', type: 0, isEncoded: false, algorithm: 0, removed: NOTHING },
  ...{ sampleRate: DEFAULT_RATE, config: NOTHING, aacFrame: null },
  ...{ seconds: 0, bytes: 0, lastTime: 0 },
})

/**
 * Reads the id and the length of an element. `start` is the offset of its content. The length is
 * null if it is unknown. Returns null if no element begins at the start of `bytes`.
 */
function elementAt(bytes: Buffer) {
  const idBytes = Math.clz32(bytes[0] ?? 0) - 23
  const sizeBytes = Math.clz32(bytes[idBytes] ?? 0) - 23
  if (idBytes > 4 || sizeBytes > 8 || bytes.length < idBytes + sizeBytes) return null
  const length = numberAt(bytes, idBytes, sizeBytes)
  const isUnknown = length === 2 ** (7 * sizeBytes) - 1
  const start = idBytes + sizeBytes
  return { id: bytes.readUIntBE(0, idBytes), start, length: isUnknown ? null : length }
}

/** Reads a number of variable length, without the marker of its length. */
function numberAt(bytes: Buffer, at: number, length: number): number {
  let value = (bytes[at] ?? 0) & (0xff >> length)
  for (let index = 1; index < length; index += 1) value = value * 256 + (bytes[at + index] ?? 0)
  return value
}

const unsigned = (bytes: Buffer): number =>
  bytes.length >= 1 && bytes.length <= 6 ? bytes.readUIntBE(0, bytes.length) : 0

function float(bytes: Buffer): number {
  const value =
    bytes.length === 8 ? bytes.readDoubleBE(0) : bytes.length === 4 ? bytes.readFloatBE(0) : 0
  return Number.isFinite(value) && value > 0 ? value : 0
}

/** The patterns of codec names. Some names have a suffix, such as `A_MPEG/L3`. */
const CODECS: readonly (readonly [RegExp, Codec])[] = [
  [/^A_AAC/, 'aac'],
  [/^A_MPEG/, 'mpeg'],
  [/^A_OPUS\0*$/, 'opus'],
  [/^A_FLAC\0*$/, 'flac'],
  [/^A_VORBIS\0*$/, 'vorbis'],
]

const codecOf = (name: string): Codec =>
  CODECS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'

function note(contents: Contents, id: number, value: Buffer): void {
  const { described } = contents
  if (id === TIMESTAMP_SCALE) contents.scale = unsigned(value)
  if (id === DURATION) contents.duration = float(value)
  if (id === TIMESTAMP) contents.clusterTime = unsigned(value)
  if (id === CODEC) described.codec = codecOf(value.toString('latin1'))
  if (id === TRACK_TYPE) described.type = unsigned(value)
  if (id === ALGORITHM) described.algorithm = unsigned(value)
  if (id === REMOVED_BYTES) described.removed = Buffer.from(value)
  if (id === SAMPLING_FREQUENCY) described.sampleRate = float(value)
  if (id === CODEC_PRIVATE) described.config = Buffer.from(value)
  const { tracks } = contents
  if (id !== TRACK_NUMBER || tracks.size >= TRACKS_MAX) return
  // If several tracks have the same number, decoders use the first of them.
  const track = unsigned(value)
  if (!tracks.has(track)) tracks.set(track, described)
}

/**
 * Adds the frames of a block. `block` contains the beginning of the block, and `length` is the
 * length of the whole block.
 */
function addBlock(contents: Contents, block: Buffer, length: number): void {
  const numberBytes = Math.clz32(block[0] ?? 0) - 23
  if (numberBytes > 8 || block.length < numberBytes + 4) return
  const track = contents.tracks.get(numberAt(block, 0, numberBytes))
  if (track === undefined) return
  const time = contents.clusterTime + block.readInt16BE(numberBytes)
  track.lastTime = Math.max(track.lastTime, time)
  track.bytes += length
  if (((block[numberBytes + 2] ?? 0) & LACING) === 0) {
    track.seconds += frameSeconds(track, block, numberBytes + 3)
    if (track.isEncoded) contents.steps += 1
    return
  }
  const starts = laceStarts(block, numberBytes + 2, length)
  contents.steps += starts.length * (track.isEncoded ? 2 : 1)
  // Frames may have different durations. Frames that are not read are assumed to last as long as
  // the longest frame that was read.
  let longest = 0
  for (const start of starts) {
    const seconds = frameSeconds(track, block, start)
    longest = Math.max(longest, seconds)
    track.seconds += start < block.length ? seconds : longest
  }
}

/** The bits of a block's flags that tell how several frames are stored in it (lacing). */
const LACING = 6
const [XIPH_LACING, FIXED_LACING] = [2, 4]

/**
 * Returns the offsets of the frames in a block with several frames. `block` is the beginning of the
 * block, and `length` is the length of the whole block.
 */
function laceStarts(block: Buffer, flagsAt: number, length: number): readonly number[] {
  const lacing = (block[flagsAt] ?? 0) & LACING
  const frames = (block[flagsAt + 1] ?? 0) + 1
  let at = flagsAt + 2
  if (lacing === FIXED_LACING) {
    const size = Math.floor((length - at) / frames)
    return size < 1 ? [] : Array.from({ length: frames }, (_, index) => at + index * size)
  }
  // The lengths of all frames but the last precede the frames.
  const sizes: number[] = []
  while (sizes.length < frames - 1) {
    let size = 0
    if (lacing === XIPH_LACING) {
      for (; block[at] === 255; at += 1) size += 255
      size += block[at] ?? 0
      at += 1
    } else {
      const sizeBytes = Math.min(8, Math.clz32(block[at] ?? 0) - 23)
      const value = numberAt(block, at, sizeBytes)
      // Only the first length is stored as it is. Each later one is stored as the difference from
      // the previous length.
      const previous = sizes.at(-1)
      size = previous === undefined ? value : previous + value - (2 ** (7 * sizeBytes - 1) - 1)
      at += sizeBytes
    }
    sizes.push(Math.max(0, size))
  }
  const starts = [at]
  for (const size of sizes) {
    at += size
    starts.push(at)
  }
  return starts
}

/**
 * Returns the duration of a frame in seconds, or 0 if the frame does not tell it. An Opus frame
 * that was not read counts as the longest possible one.
 */
function frameSeconds(track: Track, block: Buffer, at: number): number {
  if (track.codec === 'aac') {
    track.aacFrame ??= aacFrameSeconds(track)
    return track.aacFrame
  }
  const isOpus = track.codec === 'opus'
  if (isOpus && at >= block.length) return OPUS_PACKET_SECONDS_MAX
  if (!track.isEncoded) return secondsAt(track.codec, block, at)
  if (track.algorithm !== REMOVES_BYTES) return isOpus ? OPUS_PACKET_SECONDS_MAX : 0
  // Some decoders ignore how frames are encoded, so the longer duration counts.
  const whole = Buffer.concat([track.removed, block.subarray(at, at + FRAME_HEAD_BYTES)])
  return Math.max(secondsAt(track.codec, block, at), secondsAt(track.codec, whole, 0))
}

function secondsAt(codec: Codec, bytes: Buffer, at: number): number {
  if (codec === 'opus') return opusPacketSeconds(bytes[at] ?? 0, bytes[at + 1] ?? 0)
  if (codec === 'mpeg') return mp3FrameAt(bytes, at)?.seconds ?? 0
  if (codec !== 'flac') return 0
  const { samples = 0, sampleRate = 0 } = flacFrameAt(bytes, at) ?? {}
  return sampleRate > 0 ? samples / sampleRate : 0
}

/**
 * Returns the duration of a frame of AAC in seconds. The sample rate comes from the settings of the
 * decoder or, without settings, from the track's header.
 */
function aacFrameSeconds({ config, sampleRate }: Track): number {
  const rate = Math.min(sampleRate || DEFAULT_RATE, AAC_RATE_MAX)
  return config.length < 2 ? AAC_FRAME_SAMPLES / rate : secondsPerFrame(aacCodec(config, 0, rate))
}

function secondsOf({ scale, duration, tracks }: Contents): number {
  const ofUnits = (units: number): number => (units * scale) / 1e9
  const ofAudio = [...new Set(tracks.values())].filter(({ type }) => type === AUDIO_TYPE)
  if (ofAudio.length === 0) return ofUnits(duration)
  return Math.max(
    ...ofAudio.map(({ codec, isEncoded, seconds, bytes, lastTime }) => {
      if (seconds > 0) return seconds
      const rateMax = codec === 'vorbis' ? COMPRESSED_RATE_MAX : OTHER_RATE_MAX
      // Frames that are compressed again may be much longer than their bytes suggest.
      const least = bytes / (isEncoded ? UNKNOWN_RATE_MIN : rateMax)
      return Math.max(ofUnits(duration), ofUnits(lastTime), least)
    }),
  )
}
