import { type AudioFile, UNKNOWN_RATE_MIN, Windows } from './audio-file-reader.ts'
import { type BoxCount, boxAt, boxesIn, TooManyBoxesError } from './mp4-boxes.ts'
import { type Mp4Codec, mp4CodecOf } from './mp4-codec.ts'

/**
 * The maximum length of the index in bytes. A longer index is not read. The index of a day of audio
 * is shorter.
 */
const INDEX_BYTES_MAX = 16 * 1024 * 1024
/** The maximum length in bytes of the index of one fragment. */
const FRAGMENT_BYTES_MAX = 1024 * 1024
/**
 * The maximum number of boxes that are read at the top level of a file. A fragment has two of them.
 */
const BOXES_MAX = 50_000
/**
 * The maximum number of bytes per second of audio. It is used for a codec that the gateway does not
 * know, because the duration of its frames is unknown.
 */
const RATE_MAX = 250_000
/**
 * For a codec with `isLeast`: if the frames of a track last more than this many times as long as
 * the track states, the duration of the frames is used.
 */
const FORGED_FACTOR = 2.5
/** The highest time scale that is used as a sample rate. */
const TIMESCALE_MAX = 96_000
const CONTAINERS = new Set(['mdia', 'minf', 'stbl'])

type Track = {
  id: number
  isAudio: boolean
  timescale: number
  /** The duration that the header of the track states, in seconds. */
  stated: number
  /** The number of frames, without those in fragments. */
  frames: number
  codec: Mp4Codec | null
}

/**
 * Returns the duration in seconds of the MP4 or M4A file that begins at an offset. Returns null if
 * the file has no index or no duration, or if an index is too long or has too many boxes. The
 * duration follows from the frames of a track, because decoders play all of them at the rate of
 * their codec, even if the header states a shorter duration.
 */
export async function mp4Seconds(file: AudioFile, from: number): Promise<number | null> {
  try {
    return await secondsInBoxes(file, from)
  } catch (error) {
    if (error instanceof TooManyBoxesError) return null
    throw error
  }
}

async function secondsInBoxes(file: AudioFile, from: number): Promise<number | null> {
  const count: BoxCount = { boxes: 0 }
  const windows = new Windows(file, from)
  let tracks: readonly Track[] | null = null
  const fragments = new Map<number, number>()
  let boxes = 0
  for (; boxes < BOXES_MAX && windows.at + 8 <= file.bytes; boxes += 1) {
    const header = await windows.peek(16)
    const { type, length, start } = boxAt(header, 0, file.bytes - windows.at)
    if (length < start) break
    if (type === 'moov' || type === 'moof') {
      const isIndex = type === 'moov'
      if (length > (isIndex ? INDEX_BYTES_MAX : FRAGMENT_BYTES_MAX)) return null
      const content = (await windows.peek(length)).subarray(start, length)
      // Decoders ignore a second index.
      if (isIndex) tracks ??= tracksIn(content, count)
      else addFragment(content, fragments, count)
    }
    windows.at += length
  }
  if (tracks === null) return null
  const seconds = longestOf(tracks, fragments, file.bytes - from)
  const rest = boxes === BOXES_MAX ? Math.max(0, file.bytes - windows.at) : 0
  return seconds > 0 ? seconds + rest / UNKNOWN_RATE_MIN : null
}

/**
 * Returns the audio tracks in an index. If the index has none, returns all its tracks and a track
 * with the duration of the whole file.
 */
function tracksIn(index: Buffer, count: BoxCount): readonly Track[] {
  const tracks: Track[] = []
  const whole = emptyTrack()
  for (const { type, content } of boxesIn(index, count)) {
    if (type === 'mvhd') noteDuration(whole, content)
    if (type !== 'trak') continue
    const track = emptyTrack()
    noteAll(track, content, count)
    tracks.push(track)
  }
  const ofAudio = tracks.filter(({ isAudio }) => isAudio)
  return ofAudio.length > 0 ? ofAudio : [...tracks, whole]
}

const emptyTrack = (): Track => ({
  ...{ id: 0, isAudio: false, timescale: 0, stated: 0, frames: 0, codec: null },
})

function noteAll(track: Track, bytes: Buffer, count: BoxCount): void {
  for (const { type, content } of boxesIn(bytes, count)) {
    if (CONTAINERS.has(type)) noteAll(track, content, count)
    else if (type === 'stsd') track.codec = mp4CodecOf(content, count)
    else note(track, type, content)
  }
}

function note(track: Track, type: string, content: Buffer): void {
  const isLong = content[0] === 1
  if (type === 'tkhd' && content.length >= 24) track.id = content.readUInt32BE(isLong ? 20 : 12)
  if (type === 'mdhd') noteDuration(track, content)
  if (type === 'hdlr') track.isAudio = content.toString('latin1', 8, 12) === 'soun'
  // A compact list of sizes has its number of frames at the same place.
  if ((type === 'stsz' || type === 'stz2') && content.length >= 12) {
    track.frames = Math.max(track.frames, content.readUInt32BE(8))
  }
}

/** Reads the box `mvhd` or `mdhd`, which states a time scale and a duration. */
function noteDuration(track: Track, content: Buffer): void {
  const isLong = content[0] === 1
  if (content.length < (isLong ? 32 : 20)) return
  const timescale = content.readUInt32BE(isLong ? 20 : 12)
  const duration = isLong ? Number(content.readBigUInt64BE(24)) : content.readUInt32BE(16)
  // The highest possible value means that the duration is unknown.
  const isKnown = duration < (isLong ? Number.MAX_SAFE_INTEGER : 0xffff_ffff)
  track.timescale = timescale
  if (isKnown && timescale > 0) track.stated = duration / timescale
}

/**
 * Adds the numbers of frames in a fragment to `frames`, which contains a number for each track id.
 */
function addFragment(fragment: Buffer, frames: Map<number, number>, count: BoxCount): void {
  for (const { type, content } of boxesIn(fragment, count)) {
    if (type !== 'traf') continue
    let id = 0
    for (const inner of boxesIn(content, count)) {
      if (inner.content.length < 8) continue
      const value = inner.content.readUInt32BE(4)
      if (inner.type === 'tfhd') id = value
      if (inner.type === 'trun') frames.set(id, (frames.get(id) ?? 0) + value)
    }
  }
}

const longestOf = (
  tracks: readonly Track[],
  fragments: ReadonlyMap<number, number>,
  bytes: number,
): number => Math.max(0, ...tracks.map((track) => secondsOf(track, fragments, bytes)))

function secondsOf(
  { id, timescale, stated, frames, codec }: Track,
  fragments: ReadonlyMap<number, number>,
  bytes: number,
): number {
  if (codec === null) return stated > 0 ? Math.max(stated, bytes / RATE_MAX) : 0
  const sampleRate = codec.sampleRate || Math.min(timescale, TIMESCALE_MAX)
  const all = frames + (fragments.get(id) ?? 0)
  const seconds = sampleRate > 0 ? (all * codec.frameSamples) / sampleRate : 0
  if (codec.isLeast && stated > 0) return seconds > stated * FORGED_FACTOR ? seconds : stated
  return seconds > 0 ? seconds : stated
}
