import { type AudioFile, FRAMES_MAX, UNKNOWN_RATE_MIN, Windows } from './audio-file-reader.ts'
import { flacFrameAt, flacSampleRate } from './flac-duration.ts'
import { opusPacketSeconds } from './opus-packet.ts'

const PAGE_HEADER = 27
const SEGMENTS_MAX = 255
/** The first four bytes of a page. */
const OGGS = 0x4f676753
/** The work for a page, as a multiple of the work for a segment of it. */
const PAGE_STEPS = 8
const STEPS_MAX = FRAMES_MAX * PAGE_STEPS
const CONTINUED = 1
const FIRST = 2
/** The maximum number of streams that are distinguished. Real files have a few. */
const STREAMS_MAX = 1_000

/**
 * One stream of an Ogg file. The stream has two durations: `seconds` is the sum of its packets, and
 * `granule` is what its pages state.
 */
type Stream = {
  readonly kind: 'opus' | 'vorbis' | 'flac' | 'speex' | 'other'
  readonly sampleRate: number
  /** The numbers of samples in a short and in a long Vorbis block. */
  readonly blocks: readonly [short: number, long: number]
  /** The duration of a Speex packet in seconds. */
  readonly packetSeconds: number
  packets: number
  lastBlock: number
  /** The duration of the packets so far, in seconds. */
  seconds: number
  /** The highest position that a page states, in samples. */
  granule: number
}

/**
 * Returns the duration in seconds of the Ogg file that begins at an offset, or null if it has no
 * audio stream. The duration is the sum of all streams in the file, because players play the
 * streams one after another. The duration of a stream follows from its packets, because decoders
 * play all packets, regardless of the positions that the pages state. For Vorbis, see `secondsOf`.
 */
export async function oggSeconds(file: AudioFile, from: number): Promise<number | null> {
  const windows = new Windows(file, from)
  const streams = new Map<number, Stream>()
  let total = 0
  // The segments of a page are counted as well, because each of them may be a packet.
  for (let steps = 0; windows.at < file.bytes && steps < STEPS_MAX; ) {
    const pending = windows.peek(PAGE_HEADER + SEGMENTS_MAX)
    const header = pending instanceof Promise ? await pending : pending
    if (header.length < PAGE_HEADER || header.readUInt32BE(0) !== OGGS) break
    const length = pageLength(header)
    steps += PAGE_STEPS + (header[26] ?? 0)
    const whole = windows.peek(length)
    const page = whole instanceof Promise ? await whole : whole
    const serial = page.readUInt32LE(14)
    const known = streams.get(serial)
    const isFirst = ((page[5] ?? 0) & FIRST) !== 0
    if (known === undefined || isFirst) {
      if (streams.size >= STREAMS_MAX) break
      if (known !== undefined) total += secondsOf(known)
      streams.set(serial, streamOf(page.subarray(PAGE_HEADER + (page[26] ?? 0), length)))
    }
    const stream = streams.get(serial)
    if (stream !== undefined) addPage(stream, page.subarray(0, length))
    windows.at += length
  }
  for (const stream of streams.values()) total += secondsOf(stream)
  // Bytes outside of pages are counted as audio of an unknown format.
  const rest = Math.max(0, file.bytes - windows.at)
  return total === 0 ? null : total + rest / UNKNOWN_RATE_MIN
}

function pageLength(header: Buffer): number {
  const segments = header[26] ?? 0
  let length = PAGE_HEADER + segments
  for (let index = 0; index < segments; index += 1) length += header[PAGE_HEADER + index] ?? 0
  return length
}

/** Reads the first packet of a stream, which names its format. */
function streamOf(packet: Buffer): Stream {
  const none = { sampleRate: 0, packetSeconds: 0, packets: 0, lastBlock: 0, seconds: 0, granule: 0 }
  const other = { ...none, kind: 'other', blocks: [0, 0] } as const
  if (startsWith(packet, 'OpusHead')) return { ...other, kind: 'opus', sampleRate: 48_000 }
  if (startsWith(packet, '\x01vorbis') && packet.length >= 29) {
    const sizes = packet[28] ?? 0
    const blocks = [1 << (sizes & 15), 1 << (sizes >> 4)] as const
    return { ...other, kind: 'vorbis', sampleRate: packet.readUInt32LE(12), blocks }
  }
  if (startsWith(packet, '\x7fFLAC') && packet.length >= 31) {
    return { ...other, kind: 'flac', sampleRate: flacSampleRate(packet, 17) }
  }
  if (startsWith(packet, 'Speex   ') && packet.length >= 68) {
    const packetSeconds = Math.max(1, packet.readUInt32LE(64)) * SPEEX_FRAME_SECONDS
    return { ...other, kind: 'speex', sampleRate: packet.readUInt32LE(36), packetSeconds }
  }
  return other
}

const SPEEX_FRAME_SECONDS = 0.02

const startsWith = (bytes: Buffer, text: string): boolean =>
  bytes.toString('latin1', 0, text.length) === text

function addPage(stream: Stream, page: Buffer): void {
  const granule = page.readUInt32LE(6) + page.readInt32LE(10) * 2 ** 32
  if (granule > stream.granule) stream.granule = granule
  const segments = page[26] ?? 0
  let at = PAGE_HEADER + segments
  let isStart = ((page[5] ?? 0) & CONTINUED) === 0
  for (let index = 0; index < segments; index += 1) {
    const length = page[PAGE_HEADER + index] ?? 0
    if (isStart && length > 0) addPacket(stream, page, at)
    isStart = length < 255
    at += length
  }
}

/** The number of packets at the start of a stream of Opus or Speex that contain no audio. */
const HEADER_PACKETS = 2

function addPacket(stream: Stream, page: Buffer, at: number): void {
  const { kind, sampleRate } = stream
  stream.packets += 1
  const [first = 0, second = 0] = [page[at], page[at + 1]]
  if (kind === 'flac') {
    const frame = flacFrameAt(page, at)
    const rate = frame?.sampleRate || sampleRate
    if (frame !== null && rate > 0) stream.seconds += frame.samples / rate
  } else if (kind === 'vorbis') {
    // The packets of headers have odd first bytes.
    if ((first & 1) === 1 || sampleRate === 0) return
    const block = stream.blocks[(first >> 1) & 1] ?? 0
    if (stream.lastBlock > 0) stream.seconds += (stream.lastBlock + block) / 4 / sampleRate
    stream.lastBlock = block
  } else if (stream.packets > HEADER_PACKETS) {
    if (kind === 'opus') stream.seconds += opusPacketSeconds(first, second)
    if (kind === 'speex') stream.seconds += stream.packetSeconds
  }
}

/**
 * If the Vorbis packets last more than this many times as long as the pages state, the duration of
 * the packets is used.
 */
const FORGED_FACTOR = 1.5

/**
 * Returns the duration of a stream in seconds: that of its packets or, if they do not tell it, the
 * position that the pages state. For Vorbis, it is the stated position, unless the packets show
 * that this position is much too low. The packets alone do not suffice: the setup header defines
 * which blocks are long, and it is not read here.
 */
function secondsOf({ kind, sampleRate, seconds, granule }: Stream): number {
  const stated = sampleRate > 0 ? granule / sampleRate : 0
  if (kind === 'vorbis') return seconds > stated * FORGED_FACTOR ? seconds : stated
  return seconds > 0 ? seconds : stated
}
