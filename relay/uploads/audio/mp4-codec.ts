import { flacSampleRate } from './flac-duration.ts'
import { type BoxCount, boxesIn, countBox } from './mp4-boxes.ts'

/**
 * The length of the frames of a track. `sampleRate` is the rate at which decoders play the frames,
 * regardless of the time scale that the track states. `isLeast` is true if frames can also have
 * other lengths, as those of Opus.
 */
export type Mp4Codec = {
  readonly frameSamples: number
  readonly sampleRate: number
  readonly isLeast?: true
}

const AAC_RATES = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025],
  ...[8_000, 7_350],
]
const AAC_RATE_MAX = 96_000
/** The offsets of the name and of the sample rate in a sample description. */
const [NAME_AT, RATE_AT] = [12, 40]

/**
 * The offset of the first sample description in the box `stsd`, and the maximum number of
 * descriptions that are read.
 */
const [FIRST_AT, DESCRIPTIONS_MAX] = [8, 16]
/** The work for a description, as a multiple of the work for an empty box. */
const DESCRIPTION_STEPS = 8

/**
 * Reads the box `stsd`, which describes the samples of a track (ISO/IEC 14496-12). If it has
 * several descriptions, the one with the longest frames counts. Descriptions of codecs that the
 * gateway does not know are ignored, because a caller may add a description that no frame uses.
 * Returns null if the gateway knows none of the codecs.
 */
export function mp4CodecOf(descriptions: Buffer, boxes: BoxCount): Mp4Codec | null {
  let longest: Mp4Codec | null = null
  if (descriptions.length < FIRST_AT) return null
  const most = Math.min(descriptions.readUInt32BE(4), DESCRIPTIONS_MAX)
  let at = FIRST_AT
  for (let count = 0; count < most && at + 8 <= descriptions.length; count += 1) {
    countBox(boxes, DESCRIPTION_STEPS)
    const length = Math.max(8, descriptions.readUInt32BE(at))
    // The offset constants count from the start of the box, as if this description were its first
    // one.
    const codec = codecOf(descriptions.subarray(at - FIRST_AT, at + length), boxes)
    at += length
    if (codec === null) continue
    if (longest === null || secondsPerFrame(codec) > secondsPerFrame(longest)) longest = codec
  }
  return longest
}

export const secondsPerFrame = ({ frameSamples, sampleRate }: Mp4Codec): number =>
  sampleRate === 0 ? Number.POSITIVE_INFINITY : frameSamples / sampleRate

function codecOf(description: Buffer, boxes: BoxCount): Mp4Codec | null {
  const name = description.toString('latin1', NAME_AT, NAME_AT + 4)
  const entryRate = rateOf(description)
  if (name === 'mp4a') return codecOfEsds(childOf(description, 'esds', boxes), entryRate)
  if (name === '.mp3') return mp3Codec(entryRate)
  if (name === 'Opus') return { frameSamples: 960, sampleRate: 48_000, isLeast: true }
  if (name === 'alac') return alacCodec(childOf(description, 'alac', boxes))
  if (name === 'fLaC') return flacCodec(childOf(description, 'dfLa', boxes))
  if (name === 'ac-3') return { frameSamples: 1_536, sampleRate: entryRate }
  return PCM.has(name) ? { frameSamples: 1, sampleRate: entryRate } : (AMR.get(name) ?? null)
}

/** The names of PCM formats. Each of their samples counts as a frame. */
const PCM = new Set('ulaw,alaw,sowt,twos,in24,in32,fl32,fl64,lpcm'.split(','))
/** The names of AMR and AMR-WB, whose rates are fixed. */
const AMR: ReadonlyMap<string, Mp4Codec> = new Map([
  ['samr', { frameSamples: 160, sampleRate: 8_000 }],
  ['sawb', { frameSamples: 320, sampleRate: 16_000 }],
])

/**
 * Returns the sample rate in a description, or 0 if the description has none. In version 2 of
 * QuickTime's descriptions, the rate is a double.
 */
function rateOf(description: Buffer): number {
  if (description.length < RATE_AT + 2) return 0
  if (description.readUInt16BE(VERSION_AT) !== 2) return description.readUInt16BE(RATE_AT)
  if (description.length < LONG_RATE_AT + 8) return 0
  const rate = description.readDoubleBE(LONG_RATE_AT)
  return rate > 0 && rate <= LONG_RATE_MAX ? rate : 0
}

/**
 * The offset of the sample rate in version 2 of a description, and the highest rate that is
 * accepted there.
 */
const [LONG_RATE_AT, LONG_RATE_MAX] = [48, 768_000]

/**
 * Returns the codec of an MP3 track. MPEG-1 has frames of 1152 samples, and MPEG-2, which has lower
 * sample rates, has frames of 576.
 */
const mp3Codec = (sampleRate: number): Mp4Codec => ({
  frameSamples: sampleRate >= 32_000 ? 1_152 : 576,
  sampleRate,
})

function alacCodec(settings: Buffer | null): Mp4Codec | null {
  if (settings === null || settings.length < 28) return null
  return { frameSamples: settings.readUInt32BE(4), sampleRate: settings.readUInt32BE(24) }
}

function flacCodec(settings: Buffer | null): Mp4Codec | null {
  if (settings === null || settings.length < 22) return null
  return { frameSamples: settings.readUInt16BE(10), sampleRate: flacSampleRate(settings, 8) }
}

/**
 * The offset of the version in a description, and the offsets at which the boxes in a description
 * of version 0, 1 or 2 begin.
 */
const [VERSION_AT, BOXES_AT] = [24, [44, 60, 80]]

/** Returns the content of a box in a description, or null. QuickTime encloses boxes in `wave`. */
function childOf(description: Buffer, name: string, boxes: BoxCount): Buffer | null {
  if (description.length < VERSION_AT + 2) return null
  const from = BOXES_AT[description.readUInt16BE(VERSION_AT)] ?? description.length
  for (const { type, content } of boxesIn(description, boxes, from)) {
    if (type === name) return content
    if (type !== 'wave') continue
    for (const inner of boxesIn(content, boxes)) if (inner.type === name) return inner.content
  }
  return null
}

const MP3_TYPES: ReadonlySet<number> = new Set([0x69, 0x6b])
const AAC_TYPES: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68])
/** The object types of AAC whose frames have 512 samples. */
const SHORT_FRAMES: ReadonlySet<number> = new Set([23, 39])
/** The object types of MP3 in MPEG-4. */
const LAYERS: ReadonlySet<number> = new Set([32, 33, 34])

/**
 * Reads the descriptors of the box `esds` (ISO/IEC 14496-1). Without these descriptors, frames
 * count as frames of AAC at the rate of the sample description. Returns null if the descriptors
 * name a codec other than AAC and MP3.
 */
function codecOfEsds(esds: Buffer | null, entryRate: number): Mp4Codec | null {
  const usual = { frameSamples: 1_024, sampleRate: entryRate }
  const stream = esds === null ? null : descriptorAt(esds, 4, 3)
  if (esds === null || stream === null) return usual
  const flags = esds[stream + 2] ?? 0
  if ((flags & 0x40) !== 0) return usual
  const others = ((flags & 0x80) === 0 ? 0 : 2) + ((flags & 0x20) === 0 ? 0 : 2)
  const config = descriptorAt(esds, stream + 3 + others, 4)
  if (config === null) return usual
  const type = esds[config] ?? 0
  if (MP3_TYPES.has(type)) return mp3Codec(entryRate)
  if (!AAC_TYPES.has(type)) return null
  const specific = descriptorAt(esds, config + 13, 5)
  return specific === null ? usual : aacCodec(esds, specific, entryRate)
}

/**
 * Returns the offset of the content of the descriptor that begins at `at`. Returns null if no
 * descriptor with this tag begins there.
 */
function descriptorAt(bytes: Buffer, at: number, tag: number): number | null {
  if (bytes[at] !== tag) return null
  let start = at + 1
  // The length has up to four bytes. All of them except the last have their highest bit set.
  while (start < at + 4 && ((bytes[start] ?? 0) & 0x80) !== 0) start += 1
  return start + 1 < bytes.length ? start + 1 : null
}

/** Reads the `AudioSpecificConfig` of AAC (ISO/IEC 14496-3, section 1.6.2.1). */
export function aacCodec(bytes: Buffer, at: number, entryRate: number): Mp4Codec {
  const bits = [...bytes.subarray(at, at + 8)].map((byte) => byte.toString(2).padStart(8, '0'))
  const text = bits.join('')
  const read = (start: number, length: number): number =>
    Number.parseInt(text.slice(start, start + length) || '0', 2)
  const isExtended = read(0, 5) === 31
  const objectType = isExtended ? 32 + read(5, 6) : read(0, 5)
  const rateAt = isExtended ? 11 : 5
  const index = read(rateAt, 4)
  const ownRate = Math.min(read(rateAt + 4, 24), AAC_RATE_MAX)
  const sampleRate = index === 15 ? ownRate : (AAC_RATES[index] ?? 0)
  if (LAYERS.has(objectType)) return mp3Codec(sampleRate || entryRate)
  const frameSamples = SHORT_FRAMES.has(objectType) ? 512 : 1_024
  return { frameSamples, sampleRate: sampleRate || entryRate }
}
