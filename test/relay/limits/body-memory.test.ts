import { expect, it } from 'vitest'
import { BodyMemory } from '#relay/limits/body-memory.ts'

it('the body memory gives each user a share, whatever other users hold', () => {
  const memory = new BodyMemory(100)
  const owner = { userId: 1, bytesMax: 40 }
  expect(memory.reserve(owner, 30)).toBe(true)
  expect(memory.reserve(owner, 11)).toBe(false)
  expect(memory.reserve({ ...owner, userId: 2 }, 40)).toBe(true)
  memory.release(owner, 30)
  expect(memory.reserve(owner, 40)).toBe(true)
})
