import { expect, it } from 'vitest'
import { channelNamed, setChannel } from '#infra/demo/seed.ts'
import { appendTo } from '#test/projections/fixture.ts'
import { accepted, aDrawing, submitted } from '#test/projections/task-facts.ts'
import { type SeededFixture, seededFixture } from '#test/write-api/write-fixture.ts'

it('the demo finds its existing channel among more than a page of other channels', async () => {
  const fixture: SeededFixture = await seededFixture()
  const { call } = fixture.root
  const must = async <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string) =>
    (await call<T>(method, path)).data
  const own = { name: 'Key pool', key: 'sk', models: 'm' }
  await call('POST', '/api/channel/', { body: own })
  const key = Array.from({ length: 120 }, (_, n) => `sk-${n}`).join('\n')
  const others = { name: 'Key pool copy', key, models: 'm', mode: 'batch', priority: 9 }
  await call('POST', '/api/channel/', { body: others })
  expect(await channelNamed({ must }, 'Key pool')).toMatchObject({ id: 1, name: 'Key pool' })
  expect(await channelNamed({ must }, 'pool')).toBeUndefined()
  await fixture.close()
})

it('the demo moves a channel with an open task to the provider of its next start', async () => {
  const fixture: SeededFixture = await seededFixture()
  const must = async <T>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ) => {
    const answer = await fixture.root.call<T>(method, path, { body: body as object })
    expect(answer).toMatchObject({ success: true })
    return answer.data
  }
  const fields = { name: 'Simulated drawings', key: 'sk', models: 'm' }
  await setChannel({ must }, { ...fields, base_url: 'http://127.0.0.1:1' })
  const channelId = (await channelNamed({ must }, fields.name))?.id ?? 0
  const task = aDrawing('task-of-killed-demo', 7)
  const place = { channelId, keyRef: 'ref', upstreamId: 'up' }
  await appendTo(fixture.core.store, [submitted(task), accepted(task, place)])
  await setChannel({ must }, { ...fields, base_url: 'http://127.0.0.1:2' })
  const { base_url: address } = await must<{ base_url: string }>('GET', `/api/channel/${channelId}`)
  expect(address).toBe('http://127.0.0.1:2')
  await fixture.close()
})
