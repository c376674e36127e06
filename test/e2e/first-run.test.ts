import { expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { startProductProcess } from '../support/product-process.ts'

const product = startedOnce(() =>
  startProductProcess({ LOG_LEVEL: 'info', ROLES: 'write-api,projections' }),
)

const lines = () => product.output.split('\n').filter((line) => line !== '')

it('the first start prints that it is ready, and then the full address of the setup', async () => {
  await expect.poll(lines).toHaveLength(2)
  const [ready = '', first = ''] = lines()
  expect(ready).toBe(`Tallygate is ready: ${product.url}`)
  const address = /First run: open (http:\S+) /.exec(first)?.[1] ?? ''
  expect(address).toMatch(/\/setup\?token=[\w-]{32}$/)
  expect(address.startsWith(`${product.url}/`)).toBe(true)
})
