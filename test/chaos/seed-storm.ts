import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { addChannel, setOption, setUpSite } from '../support/test-product.ts'

/** Sets up a site where root can make many calls. `quota` is root's initial balance. */
export async function seedStorm(
  url: string,
  providerUrl: string,
  quota: number,
): Promise<{ readonly root: ConsoleClient; readonly key: string }> {
  const root = await setUpSite(url)
  await root.must('PUT', '/api/user/', { id: 1, quota })
  await setOption(root, 'ModelRatio', { 'sim-small': 1 })
  await setOption(root, 'CompletionRatio', { 'sim-small': 2 })
  await addChannel({ root, provider: { url: providerUrl } }, { models: 'sim-small' })
  const { key } = await root.createToken({ name: 'storm', unlimited_quota: true })
  return { root, key }
}
