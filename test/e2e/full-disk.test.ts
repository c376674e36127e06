import { expect, it } from 'vitest'
import { startProviderProcess } from '#test/support/multi-process-site.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { mountSmallDisk } from '#test/support/small-disk.ts'
import { addChannel, addUser, chat, setOption, setUpSite } from '#test/support/test-product.ts'

const QUOTA = 100_000
const disk = mountSmallDisk(500)
const reason = disk === null ? ' (skipped: no tmpfs can be mounted here)' : ''

it.skipIf(disk === null)(`calls are refused at once while the disk is full${reason}`, async () => {
  const provider = await startProviderProcess({ firstByteMs: 0, gapMs: 0, answerTokens: 10 })
  const product = await ProductProcess.create({ DATA_DIR: disk?.path ?? '' })
  try {
    await product.start()
    const root = await setUpSite(product.url)
    await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
    await addChannel({ root, provider })
    const { client } = await addUser(root, 'mia', QUOTA)
    const { key } = await client.createToken({ name: 'own', unlimited_quota: true })
    const call = () => chat(product.url, key, { model: 'sim-small' })
    const readiness = async () => (await fetch(`${product.url}/readyz`)).status
    const balance = async () =>
      (await client.must<{ quota: number }>('GET', '/api/user/self')).quota
    expect((await call()).status).toBe(200)
    await expect.poll(balance).toBe(QUOTA - 1_000)

    disk?.fill()
    const filledAt = performance.now()
    await expect.poll(readiness, { timeout: 8_000 }).toBe(503)
    expect(performance.now() - filledAt).toBeLessThan(6_000)
    const callsBefore = (await provider.journal()).length
    const refusedAt = performance.now()
    const refused = await Promise.all(Array.from({ length: 20 }, call))
    expect(performance.now() - refusedAt).toBeLessThan(3_000)
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    expect(refused[0]?.headers.get('retry-after')).toBe('5')
    expect(await provider.journal()).toHaveLength(callsBefore)

    disk?.free()
    await expect.poll(readiness).toBe(200)
    expect((await call()).status).toBe(200)
    await expect.poll(balance).toBe(QUOTA - 2_000)
    expect(await product.stop()).toBe(0)
  } finally {
    await product.close()
    provider.close()
    disk?.remove()
  }
})
