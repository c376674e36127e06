import { describe, expect, it } from 'vitest'
import { measureAudio } from '#relay/uploads/audio-duration.ts'
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

function m4a({ seconds = 10, frames = 0 }): Buffer {
  const mdhd = box('mdhd', u32(0), u32(0), u32(0), u32(44_100), u32(seconds * 44_100), u32(0))
  const stsd = box('stsd', u32(0), u32(1), u32(40), Buffer.from('mp4a'), Buffer.alloc(32))
  const stsz = box('stsz', u32(0), u32(100), u32(frames))
  const stbl = box('stbl', stsd, stsz)
  const trak = box('trak', box('mdia', mdhd, box('minf', stbl)))
  const mvhd = box('mvhd', u32(0), u32(0), u32(0), u32(1_000), u32(seconds * 1_000), u32(0))
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A ')),
    box('mdat', Buffer.alloc(1_000)),
    box('moov', mvhd, trak),
  ])
}

const flac = (seconds: number): Buffer => {
  const bytes = Buffer.alloc(1_000)
  bytes.write('fLaC', 0)
  bytes.writeUInt32BE(((16_000 << 12) | (0 << 9) | (15 << 4)) >>> 0, 18)
  bytes.writeUInt32BE(seconds * 16_000, 22)
  return bytes
}

const webm = (milliseconds: number, lastCluster: number): Buffer => {
  const duration = Buffer.alloc(8)
  duration.writeDoubleBE(milliseconds)
  const info = [Buffer.from([0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40, 0x44, 0x89, 0x88]), duration]
  const cluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0xff, 0xe7, 0x84])
  return Buffer.concat([u32(0x1a45dfa3), ...info, cluster, u32(lastCluster), Buffer.alloc(100)])
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
    ['WebM', webm(4_000, 3_000), 4],
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
    ['a WebM header with fewer seconds than clusters', webm(10, 60_000), 60],
    ['a FLAC header with too few samples', Buffer.concat([flac(0), Buffer.alloc(319_000)]), 10],
  ])('is not shortened by %s', async (_lie, bytes, seconds) => {
    expect(await measure(bytes)).toBeCloseTo(seconds, 0)
  })

  it('follows from the length alone in an unknown or damaged format', async () => {
    expect(await measure(Buffer.alloc(20_000, 'x'))).toBe(10)
    expect(await measure(Buffer.concat([Buffer.from('OggS'), Buffer.alloc(19_996)]))).toBe(10)
    expect(await measure(Buffer.concat([m4a({}).subarray(0, 500), Buffer.alloc(100)]))).toBe(0.3)
  })

  it('is finite for every cut and every changed byte of a file', async () => {
    for (const bytes of [wav(1, 100), mp3(3), opus(1, 1), m4a({}), flac(1), webm(1, 1)]) {
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
