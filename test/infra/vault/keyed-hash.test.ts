import { createHmac, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createKeyedHash } from '#infra/vault/keys-derived-from-secret-key.ts'

it('a keyed hash is HMAC-SHA256, whatever was hashed before', () => {
  const key = randomBytes(32)
  const keyedHash = createKeyedHash(key)
  const texts = ['', 'sk-short', 'ключ 🔑', 'x'.repeat(1_024), 'я'.repeat(700), 'y'.repeat(5_000)]
  for (const text of [...texts, ...texts.toReversed()]) {
    expect(keyedHash(text)).toBe(createHmac('sha256', key).update(text).digest('hex'))
  }
})
