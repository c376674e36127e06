import { expect, it } from 'vitest'
import { FinishReasonSearch } from '#relay/pipeline/finish-reason-search.ts'

it('long chunks are searched for a finish reason without being kept in memory', () => {
  const latest = new FinishReasonSearch(/"finish_reason":"/)
  const long = Buffer.alloc(1024 * 1024, 'x')
  long.write('"finish_reason":"stop"', 1_000)
  latest.add(long)
  long.fill('x')
  expect(latest.hasMatch()).toBe(true)
  for (let more = 0; more < 4; more += 1) latest.add(Buffer.from('data: {}'))
  expect(latest.hasMatch()).toBe(false)
})
