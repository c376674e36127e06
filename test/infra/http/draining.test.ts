import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { httpFixture } from './http-fixture.ts'

const fixture = startedOnce(httpFixture)

it('a draining process accepts no new API request, and still serves pages', async () => {
  const { app, drain } = fixture
  expect((await app.inject({ url: '/api/open' })).statusCode).toBe(200)
  drain.isDraining = true
  for (const request of [
    { url: '/api/open' },
    { method: 'POST', url: '/api/echo', payload: { name: 'a' } } as const,
    { url: '/api/nowhere' },
  ]) {
    const answer = await app.inject(request)
    expect([answer.statusCode, answer.json().code]).toEqual([503, 'Draining'])
    expect(answer.headers['retry-after']).toBe('5')
  }
  expect((await app.inject({ url: '/page' })).statusCode).toBe(200)
})
