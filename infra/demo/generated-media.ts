import { crc32, deflateSync } from 'node:zlib'

const SIDE = 256
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export function createPng(seed: number): Buffer {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 3))
  const [low, high] = [seed % 360, (seed * 137) % 360]
  let at = 0
  for (let y = 0; y < SIDE; y += 1) {
    rows[at] = 0
    at += 1
    for (let x = 0; x < SIDE; x += 1) {
      const wave = (Math.sin((x + seed) / 40) + Math.cos((y - seed) / 55) + 2) / 4
      const hue = low + (high - low) * wave
      for (const shift of [0, 120, 240]) {
        rows[at] = Math.round(140 + 100 * Math.cos(((hue + shift) * Math.PI) / 180))
        at += 1
      }
    }
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(SIDE, 0)
  head.writeUInt32BE(SIDE, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', EMPTY)]
  return Buffer.concat([SIGNATURE, ...parts])
}

const EMPTY = Buffer.alloc(0)

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

const RATE = 8_000
/** The notes of the tune, in semitones above the lowest note. */
const TUNE = [0, 4, 7, 12, 9, 7, 4, 0]
const NOTE_SECONDS = 0.5
const LOWEST_HERTZ = 196

export const TUNE_SECONDS = TUNE.length * NOTE_SECONDS

/** Returns a short WAV tune: mono, 8 bits per sample. */
export function createWav(seed: number): Buffer {
  const samples = Buffer.alloc(RATE * TUNE_SECONDS)
  const perNote = RATE * NOTE_SECONDS
  for (let at = 0; at < samples.length; at += 1) {
    const semitones = (TUNE[Math.floor(at / perNote)] ?? 0) + (seed % 12)
    const part = (at % perNote) / perNote
    const wave = Math.sin((2 * Math.PI * at * LOWEST_HERTZ * 2 ** (semitones / 12)) / RATE)
    samples[at] = 128 + Math.round(80 * wave * Math.sin(Math.PI * part))
  }
  return Buffer.concat([header(samples.length), samples])
}

function header(length: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(length, 40)
  return head
}
