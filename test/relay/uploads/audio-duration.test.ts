import { describe, expect, it } from 'vitest'
import { measureAudio } from '#relay/uploads/audio/measure-audio.ts'
import { wav } from '../support/wav-file.ts'

const measure = (bytes: Buffer): Promise<number> =>
  measureAudio({
    bytes: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
  })

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const box = (type: string, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([...content])
  return Buffer.concat([u32(8 + body.length), Buffer.from(type), body])
}

/** Frames of 128 kbit/s at 44.1 kHz. */
const mp3 = (frames: number): Buffer =>
  Buffer.concat(
    Array.from({ length: frames }, () =>
      Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]),
    ),
  )

function oggPage(serial: number, granule: number, flags: number, content: Buffer): Buffer {
  const head = Buffer.alloc(28)
  head.write('OggS', 0)
  head[5] = flags
  head.writeUInt32LE(granule, 6)
  head.writeUInt32LE(serial, 14)
  head[26] = 1
  head[27] = content.length
  return Buffer.concat([head, content])
}
const opus = (serial: number, seconds: number): Buffer =>
  Buffer.concat([
    oggPage(serial, 0, 2, Buffer.from('OpusHead\u0001\u0001xxxxxxxxx')),
    oggPage(serial, seconds * 48_000, 4, Buffer.alloc(200)),
  ])

/** The descriptors of AAC at 44.1 kHz. */
const ESDS = Buffer.from([
  ...[0, 0, 0, 0, 3, 25, 0, 1, 0, 4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2],
  ...[0x12, 0x10, 6, 1, 2],
])

type Mp4 = {
  readonly seconds?: number
  readonly frames?: number
  readonly scale?: number
  readonly list?: 'stsz' | 'stz2'
  readonly codec?: string
  /** The rate in the description of the codec. */
  readonly rate?: number
  /** Further descriptions. */
  readonly more?: readonly Buffer[]
  /** Boxes before the track. */
  readonly before?: Buffer
}

/** The description of a codec that is not listed. */
const UNUSED = [box('xxxx', Buffer.alloc(28))]

/** A file of AAC. With a `scale`, the codec tells its rate, and the header another one. */
function m4a(
  { seconds = 10, frames = 0, scale, list = 'stsz', codec = 'mp4a', ...others }: Mp4,
  ...after: Buffer[]
): Buffer {
  const { rate: entryRate = 0, more = [], before = Buffer.alloc(0) } = others
  const rate = scale ?? 44_100
  const mdhd = box('mdhd', u32(0), u32(0), u32(0), u32(rate), u32(seconds * rate), u32(0))
  const entry = Buffer.alloc(28)
  entry.writeUInt16BE(entryRate, 24)
  const esds = scale === undefined ? Buffer.alloc(0) : box('esds', ESDS)
  const stsd = box('stsd', u32(0), u32(1 + more.length), box(codec, entry, esds), ...more)
  const sizes = box(list, u32(0), u32(100), u32(frames))
  const hdlr = box('hdlr', u32(0), u32(0), Buffer.from('soun'), Buffer.alloc(12))
  const tkhd = box('tkhd', u32(0), u32(0), u32(0), u32(1), Buffer.alloc(8))
  const mdia = box('mdia', mdhd, hdlr, box('minf', box('stbl', stsd, sizes)))
  const mvhd = box('mvhd', u32(0), u32(0), u32(0), u32(1_000), u32(seconds * 1_000), u32(0))
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A ')),
    box('mdat', Buffer.alloc(1_000)),
    box('moov', mvhd, before, box('trak', tkhd, mdia)),
    ...after,
  ])
}

const fragment = (frames: number): Buffer =>
  box('moof', box('traf', box('tfhd', u32(0), u32(1)), box('trun', u32(0), u32(frames))))
const fragmented = (): Buffer =>
  m4a({ seconds: 0, frames: 7, scale: 44_100 }, fragment(2_000), fragment(2_300))

/** A file of PCM, whose header may state wrong values. It lasts 2 s. */
function lyingWav({ byteRate = 16_000, block = 2, bits = 16 }): Buffer {
  const bytes = wav(2)
  bytes.writeUInt32LE(byteRate, 28)
  bytes.writeUInt16LE(block, 32)
  bytes.writeUInt16LE(bits, 34)
  return bytes
}

type Wave = { tag: number; channels: number; rate: number; block: number; bits: number }

/** A WAV file of any format. `before` are the chunks in front of the samples. */
function wave(format: Wave, data: Buffer, before: readonly Buffer[] = [], after = Buffer.alloc(0)) {
  const header = Buffer.alloc(16)
  header.writeUInt16LE(format.tag, 0)
  header.writeUInt16LE(format.channels, 2)
  header.writeUInt32LE(format.rate, 4)
  header.writeUInt16LE(format.block, 12)
  header.writeUInt16LE(format.bits, 14)
  const chunk = (id: string, content: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(content.length)
    return Buffer.concat([Buffer.from(id), length, content])
  }
  const others = before.map((content) => chunk('LIST', content))
  return Buffer.concat([
    ...[Buffer.from('RIFF\0\0\0\0WAVE'), chunk('fmt ', header), ...others],
    ...[chunk('data', data), after.length === 0 ? after : chunk('id3 ', after)],
  ])
}
/** IMA ADPCM: 505 samples in each block of 256 bytes. */
const adpcm = (): Buffer =>
  wave({ tag: 0x11, channels: 1, rate: 8_000, block: 256, bits: 4 }, Buffer.alloc(256 * 100))
const STUDIO = { tag: 1, channels: 2, rate: 96_000, block: 6, bits: 24 }

/** Frames of MPEG audio of layer I, at 32 kbit/s and 32 kHz. */
const layerOne = (frames: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, () => Buffer.from([0xff, 0xff, 0x18, ...ZEROS])))
const ZEROS = Array.from({ length: 45 }, () => 0)

/** A tag of ID3 whose length is invalid, which hides nothing from a decoder. */
const BAD_TAG = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0x80, 0, 0x7f, 0x7f])

/** A tag of APE whose length would hide all frames behind it. */
const APE_TAG = Buffer.from('APETAGEX\xd0\x07\0\0\xff\xff\x0f\0', 'latin1')

/** One second of PCM, with a chunk of metadata behind it. */
const shortWav = (): Buffer => Buffer.concat([wav(1), Buffer.from('LIST\x04\0\0\0abcd')])

/** A file of AMR at 12.2 kbit/s. */
const speech = (): Buffer =>
  Buffer.concat([
    Buffer.from('#!AMR\n'),
    ...Array.from({ length: 100 }, () => Buffer.from([0x3c, ...ZEROS.slice(0, 31)])),
  ])

/** A file of Opus with packets of 20 ms, whose pages state this many seconds. */
function opusPackets(count: number, stated: number): Buffer {
  const head = oggPage(1, 0, 2, Buffer.from('OpusHead\u0001\u0001xxxxxxxxx'))
  const tags = oggPage(1, 0, 0, Buffer.from('OpusTags'))
  const packets = Array.from({ length: count }, () =>
    oggPage(1, stated * 48_000, 0, Buffer.from([OPUS_20_MS, 1, 2])),
  )
  return Buffer.concat([head, tags, ...packets])
}

/** The checksum of a FLAC frame's header, computed bit by bit. */
function crc8(bytes: readonly number[]): number {
  let crc = 0
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const isSet = ((crc >> 7) ^ (byte >> bit)) & 1
      crc = ((crc << 1) & 255) ^ (isSet === 1 ? 7 : 0)
    }
  }
  return crc
}

/** A FLAC file with frames of 4096 samples at 16 kHz, whose header states another rate. */
function flacFrames(count: number, headerRate: number): Buffer {
  const head = Buffer.alloc(42)
  head.write('fLaC', 0)
  head.writeUInt32BE(((headerRate << 12) | (7 << 9) | (31 << 4)) >>> 0, 18)
  const frames = Array.from({ length: count }, (_, index) => {
    const header = [0xff, 0xf8, 0xc5, 0x08, index & 127]
    return Buffer.from([...header, crc8(header), ...ZEROS])
  })
  return Buffer.concat([head, ...frames])
}

const flac = (seconds: number): Buffer => {
  const bytes = Buffer.alloc(1_000)
  bytes.write('fLaC', 0)
  bytes.writeUInt32BE(((16_000 << 12) | (0 << 9) | (15 << 4)) >>> 0, 18)
  bytes.writeUInt32BE(seconds * 16_000, 22)
  return bytes
}

/** An element of WebM with a length of four bytes. */
const element = (id: readonly number[], ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([...content])
  const size = Buffer.from([0x10 | (body.length >>> 24), ...u32(body.length).subarray(1)])
  return Buffer.concat([Buffer.from(id), size, body])
}
const number = (id: number, value: number): Buffer => element([id], u32(value))
const trackOf = (id: number, type: number, codec: string): Buffer =>
  element([0xae], number(0xd7, id), number(0x83, type), element([0x86], Buffer.from(codec)))
const block = (track: number, time: number, ...frame: readonly number[]): Buffer =>
  element([0xa3], Buffer.from([0x80 | track, time >> 8, time & 255, 0x80, ...frame]))
/** The first byte of a packet of Opus that lasts 20 ms. */
const OPUS_20_MS = 1 << 3

const webmOf = (milliseconds: number, tracks: readonly Buffer[], clusters: readonly Buffer[]) => {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE(milliseconds)
  const info = element([0x15, 0x49, 0xa9, 0x66], element([0x44, 0x89], duration))
  const header = element([0x1a, 0x45, 0xdf, 0xa3])
  const allTracks = element([0x16, 0x54, 0xae, 0x6b], ...tracks)
  return Buffer.concat([header, element([0x18, 0x53, 0x80, 0x67], info, allTracks, ...clusters)])
}
const cluster = (time: number, ...blocks: readonly Buffer[]): Buffer =>
  element([0x1f, 0x43, 0xb6, 0x75], number(0xe7, time), ...blocks)
const opusBlocks = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, () => block(1, 0, OPUS_20_MS, 1, 2, 3))
const webm = (milliseconds: number, seconds: number): Buffer =>
  webmOf(milliseconds, [trackOf(1, 2, 'A_OPUS')], [cluster(0, ...opusBlocks(seconds * 50))])

const ENCODING = element([0x62, 0x40])
const REMOVING_NOTHING = element(
  [0x62, 0x40],
  element([0x50, 0x34], element([0x42, 0x54], u32(3)), element([0x42, 0x55])),
)
/** A file of 1 000 frames of MP3 whose header states a millisecond. */
function encodedWebm(encodings: readonly Buffer[]): Buffer {
  const list = element([0x6d, 0x80], ...encodings)
  const codec = element([0x86], Buffer.from('A_MPEG/L3'))
  const track = element([0xae], number(0xd7, 1), number(0x83, 2), codec, list)
  const frame = [...mp3(1)]
  return webmOf(
    1,
    [track],
    [cluster(0, ...Array.from({ length: 1_000 }, () => block(1, 0, ...frame)))],
  )
}
/** A file of 10 s of Opus, whose second track with the same number has a codec without frames. */
const webmWithTwoTracks = (): Buffer =>
  webmOf(1, [trackOf(1, 2, 'A_OPUS'), trackOf(1, 2, 'A_X')], [cluster(0, ...opusBlocks(500))])

/** The first byte of a packet of Opus that lasts 2.5 ms, and of one that lasts 60 ms. */
const [OPUS_SHORT, OPUS_60_MS] = [16 << 3, 3 << 3]
/** A file of 100 blocks with one short and eight long packets, and with this lacing. */
function lacedWebm(lacing: number): Buffer {
  // All packets have two bytes. With lengths of EBML, seven differences of zero follow the first.
  const ebml = [0x82, ...Array.from({ length: 7 }, () => 0xbf)]
  const lengths = lacing === 2 ? Array.from({ length: 8 }, () => 2) : lacing === 6 ? ebml : []
  const long = Array.from({ length: 8 }, () => [OPUS_60_MS, 1]).flat()
  const frames = Buffer.from([0x81, 0, 0, lacing, 8, ...lengths, OPUS_SHORT, 1, ...long])
  const blocks = Array.from({ length: 100 }, () => element([0xa3], frames))
  return webmOf(1, [trackOf(1, 2, 'A_OPUS')], [cluster(0, ...blocks)])
}
/** The settings of a decoder of AAC at 16 kHz. */
const AAC_16_KHZ = Buffer.from([0x14, 0x08])
/** A file of 1 000 short frames of AAC, whose track states the rate. */
function aacWebm(rate: number, config = Buffer.alloc(0)): Buffer {
  const frequency = Buffer.alloc(8)
  frequency.writeDoubleBE(rate)
  const codec = element([0x86], Buffer.from('A_AAC'))
  const audio = element([0xe1], element([0xb5], frequency))
  const settings = config.length === 0 ? config : element([0x63, 0xa2], config)
  const track = element([0xae], settings, number(0xd7, 1), number(0x83, 2), audio, codec)
  const blocks = Array.from({ length: 1_000 }, () => block(1, 0, 0x21, 0x10, 0x04))
  return webmOf(1, [track], [cluster(0, ...blocks)])
}

describe('the duration of a file', () => {
  it.each([
    ['WAV', wav(3), 3],
    ['MP3', mp3(100), 2.612],
    [
      'MP3 behind a tag',
      Buffer.concat([Buffer.from('ID3\u0003\0\0\0\0\0\u0010'), Buffer.alloc(16), mp3(100)]),
      2.612,
    ],
    ['Opus', opus(1, 7), 7],
    ['M4A', m4a({}), 10],
    ['FLAC', flac(12), 12],
    ['WebM', webm(4_000, 4), 4],
    ['WebM without sound', webmOf(4_000, [], []), 4],
  ])('is that of its %s header', async (_format, bytes, seconds) => {
    expect(await measure(bytes)).toBeCloseTo(seconds, 2)
  })

  it.each([
    ['a WAV header that declares less data', wav(30, 8_000, 10), 30],
    [
      'an Ogg file with several streams one after another',
      Buffer.concat([opus(1, 1), opus(2, 9)]),
      10,
    ],
    ['an M4A header with fewer seconds than frames', m4a({ seconds: 1, frames: 4_307 }), 100],
    ['a WebM header with fewer seconds than blocks', webm(10, 60), 60],
    ['a WAV header with a higher byte rate than its samples', lyingWav({ byteRate: 9e6 }), 2],
    ['a WAV header with larger blocks than its samples', lyingWav({ block: 64 }), 2],
    ['a WAV header with more bits than its blocks', lyingWav({ bits: 64 }), 2],
    ['positions in an Ogg file that do not rise', opusPackets(500, 0), 10],
    ['an M4A time scale that is too high', m4a({ seconds: 1, frames: 4_307, scale: 9e8 }), 100],
    ['an M4A index with few frames before its fragments', fragmented(), 100],
    ['a compact list of frames', m4a({ seconds: 1, frames: 4_307, list: 'stz2' }), 100],
    ['a FLAC header with a higher rate than its frames', flacFrames(100, 655_350), 25.6],
    ['a tag whose length is no length', Buffer.concat([BAD_TAG, mp3(1_000)]), 26.1],
    ['frames of layer I', layerOne(1_000), 12],
    ['a tag between frames', Buffer.concat([mp3(1), APE_TAG, mp3(999)]), 26.1],
    ['several chunks of samples', Buffer.concat([shortWav(), shortWav().subarray(36)]), 2],
    ['a FLAC header with too few samples', Buffer.concat([flac(0), Buffer.alloc(319_000)]), 10],
    [
      'an M4A description of an unknown codec',
      m4a({ seconds: 1, frames: 4_307, more: UNUSED }),
      100,
    ],
    ['an M4A header of PCM', m4a({ seconds: 1, frames: 480_000, codec: 'sowt', rate: 48_000 }), 10],
    ['an M4A rate of AMR', m4a({ seconds: 1, frames: 500, codec: 'samr', rate: 48_000 }), 10],
    ['an M4A rate of AC-3', m4a({ seconds: 1, frames: 625, codec: 'ac-3', rate: 48_000 }), 20],
    ['an empty list of encodings in WebM', encodedWebm([]), 26.1],
    ['an encoding in WebM that removes nothing', encodedWebm([REMOVING_NOTHING]), 26.1],
    ['an encoding in WebM that hides the frames', encodedWebm([ENCODING]), 210.5],
    ['a second track of WebM with the same number', webmWithTwoTracks(), 10],
    ['a short first frame in each block of WebM', lacedWebm(0x02), 48.25],
    ['a short first frame in each block of WebM with lengths of EBML', lacedWebm(0x06), 48.25],
    ['a short first frame in each block of WebM with equal lengths', lacedWebm(0x04), 48.25],
    ['a WebM header with fewer seconds than frames of AAC', aacWebm(16_000), 64],
    ['a rate of AAC in WebM that its decoder ignores', aacWebm(96_000, AAC_16_KHZ), 64],
  ])('is not shortened by %s', async (_lie, bytes, seconds) => {
    expect(await measure(bytes)).toBeCloseTo(seconds, 0)
  })

  it.each([
    ['PCM of many bytes per second', wave(STUDIO, Buffer.alloc(576_000 * 3)), 3],
    [
      'samples behind long chunks',
      wave(STUDIO, Buffer.alloc(576_000), [Buffer.alloc(100_000), Buffer.alloc(70_000)]),
      1,
    ],
    ['a picture behind the samples', wave(STUDIO, Buffer.alloc(576_000), [], Buffer.alloc(9e6)), 1],
    ['IMA ADPCM in WAV', adpcm(), 6.3125],
    [
      'GSM in WAV',
      wave({ tag: 0x31, channels: 1, rate: 8_000, block: 65, bits: 0 }, Buffer.alloc(6_500)),
      4,
    ],
    [
      'MP3 in WAV',
      wave({ tag: 0x55, channels: 2, rate: 44_100, block: 1, bits: 0 }, mp3(1_000)),
      26.122,
    ],
    [
      'an MP3 with a large picture',
      Buffer.concat([Buffer.from('ID3\u0003\0\0\0\u0020\0\0'), Buffer.alloc(2 ** 19), mp3(100)]),
      2.612,
    ],
    ['an Opus stream that was cut from a longer one', opusPackets(500, 3_600), 10],
    ['a fragmented M4A', fragmented(), 100],
    ['AMR', speech(), 2],
    [
      'a video with a few seconds of sound',
      webmOf(
        90_000,
        [trackOf(1, 2, 'A_OPUS'), trackOf(2, 1, 'V_VP9')],
        [
          cluster(
            0,
            ...opusBlocks(200),
            element([0xa3], Buffer.from([0x82, 0, 0, 0]), Buffer.alloc(4e6)),
          ),
        ],
      ),
      4,
    ],
  ])('is not longer than what is heard: %s', async (_format, bytes, seconds) => {
    expect(await measure(bytes)).toBeCloseTo(seconds, 1)
  })

  it('of a WAV file with an impossible rate follows from the length alone', async () => {
    const impossible = { tag: 1, channels: 40, rate: 4e9, block: 640, bits: 128 }
    expect(await measure(wave(impossible, Buffer.alloc(20_000)))).toBeCloseTo(10, 1)
  })

  it('of an M4A file with too many boxes before its track follows from its length', async () => {
    const before = Buffer.alloc(8 * 400_000, box('free'))
    const bytes = m4a({ seconds: 1, frames: 4_307, before })
    expect(await measure(bytes)).toBe(bytes.length / 2_000)
    const few = m4a({ seconds: 1, frames: 4_307, before: before.subarray(0, 8 * 20_000) })
    expect(await measure(few)).toBeCloseTo(100, 0)
  })

  it('follows from the length alone in an unknown or damaged format', async () => {
    expect(await measure(Buffer.alloc(20_000, 'x'))).toBe(10)
    expect(await measure(Buffer.concat([Buffer.from('OggS'), Buffer.alloc(19_996)]))).toBe(10)
    expect(await measure(Buffer.concat([m4a({}).subarray(0, 500), Buffer.alloc(100)]))).toBe(0.3)
  })

  it('is finite for every cut and every changed byte of a file', async () => {
    const others = [opusPackets(9, 1), flacFrames(2, 16_000), fragmented(), adpcm(), speech()]
    const usual = [wav(1, 100), mp3(3), opus(1, 1), m4a({}), flac(1), webm(1, 1)]
    for (const bytes of [...usual, ...others]) {
      for (let at = 0; at < Math.min(bytes.length, 300); at += 1) {
        const changed = Buffer.from(bytes)
        changed[at] = 255
        for (const one of [bytes.subarray(0, at), changed]) {
          const seconds = await measure(one)
          expect(Number.isFinite(seconds) && seconds >= 0).toBe(true)
        }
      }
    }
  })
})
