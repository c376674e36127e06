import { type AudioFile, FRAMES_MAX, UNKNOWN_RATE_MIN, Windows } from './audio-file-reader.ts'
import { flacFrameAt } from './flac-duration.ts'
import { mp3FrameAt } from './mp3-frame.ts'
import { opusPacketSeconds } from './opus-packet.ts'

/** The elements that contain other elements that are read (RFC 9559). */
const CONTAINERS: ReadonlySet<number> = new Set([
  ...[0x18538067, 0x1f43b675, 0xa0, 0x1654ae6b, 0xae, 0x1549a966],
])
const [TRACK_ENTRY, TRACK_NUMBER, CODEC, TRACK_TYPE] = [0xae, 0xd7, 0x86, 0x83]
const [TIMESTAMP_SCALE, DURATION, TIMESTAMP] = [0x2ad7b1, 0x4489, 0xe7]
const [SIMPLE_BLOCK, BLOCK] = [0xa3, 0xa1]
const CONTENT_ENCODINGS = 0x6d80
/** The usual duration of a packet of Opus, in seconds. */
const OPUS_PACKET_SECONDS = 0.02
/** The longest element that is read as a number or a short text, in bytes. */
const VALUE_BYTES_MAX = 64
/** The maximum length of the part of a block that is read. */
const BLOCK_HEAD_BYTES = 4_096
const TRACKS_MAX = 1_000
const AUDIO_TYPE = 2
/** The most bytes per second of Vorbis and AAC, and of audio in a codec that is not listed. */
const [COMPRESSED_RATE_MAX, OTHER_RATE_MAX] = [62_500, 250_000]

type Track = {
  codec: string
  type: number
  /** True if the frames are compressed again or lack their first bytes. */
  isEncoded: boolean
  /** The duration of the frames, if the codec tells it. */
  seconds: number
  bytes: number
  /** The highest time of a block, in the units of the file. */
  lastTime: number
}

type Contents = {
  scale: number
  duration: number
  clusterTime: number
  readonly tracks: Map<number, Track>
  /** The track that is described at present. */
  described: Track
}

/**
 * Returns the duration in seconds of the WebM or Matroska file that begins at an offset, or null if
 * it is not known. It follows from the frames of the audio, because decoders play all of them. The
 * header may state any duration, and recorders in browsers state none.
 */
export async function webmSeconds(file: AudioFile, from: number): Promise<number | null> {
  const windows = new Windows(file, from)
  const described = emptyTrack()
  const tracks = new Map<number, Track>()
  const contents: Contents = { scale: 1_000_000, duration: 0, clusterTime: 0, tracks, described }
  for (let elements = 0; windows.at < file.bytes; elements += 1) {
    const pending = windows.peek(12)
    const bytes = pending instanceof Promise ? await pending : pending
    const element = elementAt(bytes)
    if (element === null) break
    const { id, start, length } = element
    if (id === TRACK_ENTRY) contents.described = emptyTrack()
    if (id === CONTENT_ENCODINGS) contents.described.isEncoded = true
    if (elements > FRAMES_MAX) {
      return secondsOf(contents) + (file.bytes - windows.at) / UNKNOWN_RATE_MIN
    }
    if (!CONTAINERS.has(id)) {
      if (length === null) break
      const isBlock = id === SIMPLE_BLOCK || id === BLOCK
      const most = isBlock ? BLOCK_HEAD_BYTES : VALUE_BYTES_MAX
      if (isBlock || length <= VALUE_BYTES_MAX) {
        const whole = windows.peek(start + Math.min(length, most))
        const content = (whole instanceof Promise ? await whole : whole).subarray(start)
        if (isBlock) addBlock(contents, content.subarray(0, Math.min(length, most)), length)
        else note(contents, id, content.subarray(0, length))
      }
    }
    windows.at += start + (CONTAINERS.has(id) ? 0 : (length ?? 0))
  }
  const seconds = secondsOf(contents)
  return seconds > 0 ? seconds : null
}

const emptyTrack = (): Track => ({
  ...{ codec: '', type: 0, isEncoded: false, seconds: 0, bytes: 0, lastTime: 0 },
})

/**
 * Reads the id and the length of an element. `start` is the offset of its content. The length is
 * null if it is unknown. Returns null if no element begins here.
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

function note(contents: Contents, id: number, value: Buffer): void {
  const { described } = contents
  if (id === TIMESTAMP_SCALE) contents.scale = unsigned(value)
  if (id === DURATION) contents.duration = float(value)
  if (id === TIMESTAMP) contents.clusterTime = unsigned(value)
  if (id === CODEC) described.codec = value.toString('latin1').replace(/\0+$/, '')
  if (id === TRACK_TYPE) described.type = unsigned(value)
  const { tracks } = contents
  if (id === TRACK_NUMBER && tracks.size < TRACKS_MAX) tracks.set(unsigned(value), described)
}

/** Adds the frames of a block. `block` is its beginning, and `length` its whole length. */
function addBlock({ tracks, clusterTime }: Contents, block: Buffer, length: number): void {
  const numberBytes = Math.clz32(block[0] ?? 0) - 23
  if (numberBytes > 8 || block.length < numberBytes + 4) return
  const track = tracks.get(numberAt(block, 0, numberBytes))
  if (track === undefined) return
  const time = clusterTime + block.readInt16BE(numberBytes)
  track.lastTime = Math.max(track.lastTime, time)
  track.bytes += length
  const { at, frames } = framesIn(block, numberBytes + 2)
  track.seconds += frames * frameSeconds(track, block, at)
}

/** Returns the number of frames in a block (its lacing), and the offset of the first one. */
function framesIn(
  block: Buffer,
  flagsAt: number,
): { readonly at: number; readonly frames: number } {
  const lacing = ((block[flagsAt] ?? 0) >> 1) & 3
  if (lacing === 0) return { at: flagsAt + 1, frames: 1 }
  const frames = (block[flagsAt + 1] ?? 0) + 1
  let at = flagsAt + 2
  // The lengths of all frames but the last precede the frames, unless all have the same length.
  for (let index = 1; index < frames && lacing !== 2; index += 1) {
    if (lacing === 3) at += Math.min(8, Math.clz32(block[at] ?? 0) - 23)
    else {
      while (block[at] === 255) at += 1
      at += 1
    }
  }
  return { at, frames }
}

/** Returns the duration of a frame in seconds, or 0 for a codec whose frames do not tell it. */
function frameSeconds({ codec, isEncoded }: Track, block: Buffer, at: number): number {
  if (isEncoded) return codec === 'A_OPUS' ? OPUS_PACKET_SECONDS : 0
  if (codec === 'A_OPUS') return opusPacketSeconds(block[at] ?? 0, block[at + 1] ?? 0)
  if (codec.startsWith('A_MPEG')) return mp3FrameAt(block, at)?.seconds ?? 0
  if (codec !== 'A_FLAC') return 0
  const { samples = 0, sampleRate = 0 } = flacFrameAt(block, at) ?? {}
  return sampleRate > 0 ? samples / sampleRate : 0
}

function secondsOf({ scale, duration, tracks }: Contents): number {
  const ofUnits = (units: number): number => (units * scale) / 1e9
  const ofAudio = [...new Set(tracks.values())].filter(({ type }) => type === AUDIO_TYPE)
  if (ofAudio.length === 0) return ofUnits(duration)
  return Math.max(
    ...ofAudio.map(({ codec, seconds, bytes, lastTime }) => {
      if (seconds > 0) return seconds
      const isUsual = /^A_(?:VORBIS|AAC)/.test(codec)
      const least = bytes / (isUsual ? COMPRESSED_RATE_MAX : OTHER_RATE_MAX)
      return Math.max(ofUnits(duration), ofUnits(lastTime), least)
    }),
  )
}
