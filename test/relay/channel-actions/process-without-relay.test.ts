import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testProduct } from '#test/support/test-product.ts'

const product = startedOnce(() =>
  testProduct({ roles: new Set(['write-api', 'read-api', 'projections']) }),
)

it.each([
  ['GET', '/api/channel/types'],
  ['GET', '/api/channel/test'],
  ['GET', '/api/channel/test/1'],
  ['POST', '/api/channel/fetch_models'],
  ['GET', '/api/channel/update_balance/1/'],
] as const)('a process without a relay answers 404 to %s %s', async (method, path) => {
  const body = method === 'POST' ? { type: 1, key: 'k' } : undefined
  const { status, code } = await product.root.call(method, path, body)
  expect({ status, code }).toEqual({ status: 404, code: 'NoSuchRoute' })
})

it('a process without a relay still describes the channel actions of the site', async () => {
  const response = await fetch(`${product.url}/api/openapi.json`)
  const { paths } = (await response.json()) as { paths: object }
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/api/channel/types', '/api/channel/test/{id}']),
  )
})
