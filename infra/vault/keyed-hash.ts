import { hash } from 'node:crypto'

const BLOCK_BYTES = 64
const TEXT_BYTES_MAX = 1_024

/**
 * HMAC-SHA256 (RFC 2104) under one key, as hex. Two one-shot digests over blocks made in advance:
 * `createHmac` costs ten times as much, most of it for wrapping the key anew at every call.
 */
export function createKeyedHash(key: Uint8Array): (text: string) => string {
  if (key.length > BLOCK_BYTES) throw new Error(`a key of at most ${BLOCK_BYTES} bytes`)
  const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX, padded(key, 0x36))
  const outer = Buffer.alloc(BLOCK_BYTES + 32, padded(key, 0x5c))
  return (text) => {
    const bytes = Buffer.byteLength(text)
    const message =
      bytes > TEXT_BYTES_MAX
        ? Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(text)])
        : inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES))
    outer.set(hash('sha256', message, 'buffer'), BLOCK_BYTES)
    return hash('sha256', outer, 'hex')
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad)
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad
  return block
}
