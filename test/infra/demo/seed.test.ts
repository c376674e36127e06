import { expect, it } from 'vitest'
import { channelNamed } from '#infra/demo/seed.ts'
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
