import { describe, expect, it } from 'vitest'
import { measureAudio } from '#relay/uploads/audio/measure-audio.ts'

const LENGTH = 16 * 1024 * 1024
/** Reading a header takes about 0.1 microseconds. */
const HEADERS_MAX = 4_100_000

/**
 * Measures a file and returns how many headers were read. Each header is a part of the bytes that
 * the file has returned, so the calls that take parts are counted.
 */
async function headersRead(bytes: Buffer): Promise<number> {
  let headers = 0
  const counting = (window: Buffer): Buffer => {
    const { subarray } = window
    const counted: typeof subarray = (...range) => {
      headers += 1
      return subarray.apply(window, range) as ReturnType<typeof subarray>
    }
    return Object.assign(window, { subarray: counted })
  }
  await measureAudio({
    bytes: bytes.length,
    read: async (position, length) => counting(bytes.subarray(position, position + length)),
  })
  return headers
}

/** A file with a beginning and then the same bytes again and again. */
function file(beginning: string, repeated: string): Buffer {
  const bytes = Buffer.alloc(LENGTH, repeated, 'latin1')
  bytes.write(beginning, 'latin1')
  return bytes
}

const ID3_TAG = 'ID3\x04\0\0\0\0\0\0'
/** A tag whose length covers the rest of the file. */
const APE_TAG = 'APETAGEX\xd0\x07\0\0\xff\xff\xff\xff'
/** The header of WebM and of a segment of unknown length. */
const SEGMENT = '\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff'

describe('measuring an upload, which its caller need not pay, takes limited work', () => {
  it.each([
    ['zeros behind a tag', file(ID3_TAG, '\0')],
    ['text within a tag', file(ID3_TAG + APE_TAG, 'x')],
    ['bytes with which a frame may begin within a tag', file(ID3_TAG + APE_TAG, '\xff')],
    ['tags behind tags', file(ID3_TAG, 'TAG')],
    ['the shortest frames of AAC', file(ID3_TAG, '\xff\xf1\x50\x80\x00\xe0\xfc')],
    ['bytes with which a frame of FLAC may begin', file(`fLaC${'\0'.repeat(38)}`, '\xff')],
    ['empty elements of WebM', file(SEGMENT, '\xec\x80')],
  ])('for %s', async (_content, bytes) => {
    expect(await headersRead(bytes)).toBeLessThan(HEADERS_MAX)
  })

  it('for many parts of one WAV file', async () => {
    const wave = Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x55\0\x01\0\x44\xac\0\0', 'latin1')
    const part = Buffer.alloc(LENGTH / 2, '\xff', 'latin1')
    const chunk = (id: string, content: Buffer): Buffer => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(content.length)
      return Buffer.concat([Buffer.from(id), length, content])
    }
    const hidden = Buffer.concat([Buffer.from(APE_TAG, 'latin1'), part])
    const parts = [hidden, hidden].flatMap((one) => [
      chunk('data', one),
      chunk('LIST', Buffer.alloc(4)),
    ])
    const bytes = Buffer.concat([wave, Buffer.alloc(8), ...parts])
    expect(await headersRead(bytes)).toBeLessThan(HEADERS_MAX)
  })

  it.each<[number, number | null]>([
    [10_000, 7],
    [400_000, null],
  ])('for %i descriptions of samples in the index of one MP4 file', async (count, seconds) => {
    const box = (type: string, content: Buffer): Buffer => {
      const header = Buffer.alloc(8)
      header.writeUInt32BE(8 + content.length)
      header.write(type, 4, 'latin1')
      return Buffer.concat([header, content])
    }
    const numbers = (...values: number[]): Buffer => {
      const bytes = Buffer.alloc(4 * values.length)
      for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
      return bytes
    }
    const perList = 16
    const description = box('mp4a', Buffer.alloc(0))
    const list = box(
      'stsd',
      Buffer.concat([numbers(0, perList), Buffer.alloc(8 * perList, description)]),
    )
    const lists = Buffer.alloc((list.length * count) / perList, list)
    const handler = box('hdlr', Buffer.from('\0\0\0\0\0\0\0\0soun', 'latin1'))
    const header = box('mdhd', numbers(0, 0, 0, 1_000, 7_000))
    const track = box('trak', box('mdia', Buffer.concat([handler, header, lists])))
    const bytes = Buffer.concat([box('ftyp', Buffer.alloc(8)), box('moov', track)])
    const read = async (position: number, length: number) =>
      bytes.subarray(position, position + length)
    // If there is more in the index than is read, the duration follows from the length of the file.
    expect(await measureAudio({ bytes: bytes.length, read })).toBe(seconds ?? bytes.length / 2_000)
  })
})
