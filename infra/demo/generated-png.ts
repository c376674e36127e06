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
