import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import { spawnNode } from '#test/support/child-process.ts'
import { en } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  ALL_ROLES,
  addChannel,
  addUser,
  chat,
  setOption,
  type TestProduct,
  testProduct,
} from '#test/support/test-product.ts'
import { realPage, submitLogin } from './open-product-page.ts'

/**
 * A site that requires one witness. Its operator learns the keys of the other site later, so both
 * lists are filled while it runs.
 */
function witnessedSite() {
  const witnesses: { key: string; url: string }[] = []
  const witnessedKeys: string[] = []
  const transparencyLog = { witnesses, witnessedKeys, quorum: 1 }
  const product = startedOnce(() => testProduct({ roles: ALL_ROLES, transparencyLog }))
  return { product, witnesses, witnessedKeys }
}

const [one, two] = [witnessedSite(), witnessedSite()]
const app = realPage(() => one.product.url)
const folder = mkdtempSync(join(tmpdir(), 'receipts-'))
afterAll(() => rmSync(folder, { recursive: true }))
let requestId: string

const statusOf = async ({ url }: TestProduct): Promise<LogStatus> => {
  const answer = await fetch(`${url}/api/transparency-log/status`)
  return ((await answer.json()) as { data: LogStatus }).data
}

beforeAll(async () => {
  const { root, url } = one.product
  await setOption(root, 'ModelRatio', { 'sim-small': 10 })
  await addChannel(one.product, { name: 'main', models: 'sim-small' })
  const { client } = await addUser(root, 'customer', 100_000_000)
  const { key } = await client.createToken({ name: 'phone', unlimited_quota: true })
  requestId = (await chat(url, key, { model: 'sim-small', max_tokens: 4 })).requestId
  await app.page.goto(`${url}/login`)
  await submitLogin(app.page, 'customer')
  await app.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

const states = (name: 'signed' | 'final') =>
  app.page.getByText(en(`audit.receipt.state.${name}`), { exact: true })

it('a receipt is signed, and not final, while the required witness has not signed', async () => {
  await app.page.goto(`${one.product.url}/app/calls/${requestId}`)
  await expect.poll(() => states('signed').count()).toBeGreaterThan(1)
  await expect.poll(() => states('final').count()).toBe(0)
  const { latest, quorum } = await statusOf(one.product)
  expect([latest?.is_final, quorum]).toEqual([false, 1])
})

it('two sites that know each other sign the checkpoints of each other', async () => {
  const sites = [one, two]
  await expect.poll(async () => (await statusOf(two.product)).key).not.toBe(null)
  const statuses = [await statusOf(one.product), await statusOf(two.product)]
  for (const [index, site] of sites.entries()) {
    const other = statuses[1 - index]
    const url = `${sites[1 - index]?.product.url}/transparency-log/witness`
    site.witnesses.push({ key: other?.witness_key ?? '', url })
    site.witnessedKeys.push(other?.key ?? '')
  }
  for (const [index, { product }] of sites.entries()) {
    // A new event is sealed in a new checkpoint, which is shown to the witness at once.
    await setOption(product.root, 'SystemName', `Site ${index}`)
    // The checkpoint that was final is kept, because a newer one may follow at any time.
    let latest: Awaited<ReturnType<typeof statusOf>>['latest'] | undefined
    const isFinal = async () => {
      latest = (await statusOf(product)).latest
      return latest?.is_final
    }
    await expect.poll(isFinal).toBe(true)
    expect(latest?.cosignatures.map(({ witness }) => witness)).toEqual([
      statuses[1 - index]?.witness_key?.split('+')[0],
    ])
  }
})

it('the earlier receipt is then final, and verifies offline with both keys', async () => {
  const { page, faults } = app
  await page.goto(`${one.product.url}/app/calls/${requestId}`)
  await expect.poll(() => states('final').count()).toBeGreaterThan(1)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: en('audit.receipt.download') }).click()
  const receipt = join(folder, 'receipt.json')
  await (await saved).saveAs(receipt)
  await page.getByText(en('audit.receipt.check')).click()
  await page.getByText('--key KEY --witness WITNESS_KEY').first().waitFor()
  const loaded = page.waitForEvent('download')
  await page.getByRole('link', { name: en('audit.receipt.verifier') }).click()
  const verifier = join(folder, 'verify.mjs')
  await (await loaded).saveAs(verifier)
  const [own, other] = [await statusOf(one.product), await statusOf(two.product)]
  const verify = async (witness: string) => {
    const keys = ['--key', own.key ?? '', '--witness', witness]
    const child = spawnNode(verifier, '--receipt', receipt, ...keys)
    const [code] = (await once(child, 'close')) as [number]
    return code
  }
  expect(await verify(other.witness_key ?? '')).toBe(0)
  // The key with which the other site signs its own log is not that of a witness.
  expect(await verify(other.key ?? '')).not.toBe(0)
  expect(faults).toEqual([])
})
