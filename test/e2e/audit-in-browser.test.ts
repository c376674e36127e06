import { beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { en } from '#test/support/console-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  ALL_ROLES,
  addChannel,
  addUser,
  chat,
  setOption,
  testProduct,
} from '#test/support/test-product.ts'
import { realPage, submitLogin } from './open-product-page.ts'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const app = realPage(() => product.url)
let user: ConsoleClient
let userId: number
let requestId: string

beforeAll(async () => {
  const { root } = product
  await setOption(root, 'ModelRatio', { 'sim-small': 10 })
  await addChannel(product, { name: 'main', models: 'sim-small' })
  const added = await addUser(root, 'customer', 100_000_000)
  user = added.client
  userId = added.id
  const { key } = await user.createToken({ name: 'phone', unlimited_quota: true })
  const answer = await chat(product.url, key, { model: 'sim-small', max_tokens: 4 })
  expect(answer.status).toBe(200)
  requestId = answer.requestId
  await app.page.goto(`${product.url}/login`)
  await submitLogin(app.page, 'root')
  await app.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
})

it('an auditor goes from a call to its receipt, its owner’s ledger and the history', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/logs/api-usage?request=${requestId}`)
  await page.getByRole('link', { name: requestId }).click()
  await page.getByText(en('audit.call.exact')).waitFor()
  await page.getByText('CallSettled').first().waitFor()
  await page.goto(`${product.url}/app/audit/ledgers/${userId}`)
  await page.getByRole('grid').getByText(requestId).waitFor()
  await page.getByRole('tab', { name: en('audit.ledger.tab.statement') }).click()
  await page.getByRole('table', { name: en('audit.ledger.byDay') }).waitFor()
  await page.goto(`${product.url}/app/audit/ledgers`)
  await page.getByRole('table', { name: en('audit.siteMonth.byChannel') }).waitFor()
  await page.goto(`${product.url}/app/audit/history?object=prices:site`)
  await page.getByText('ModelRatio › sim-small').first().waitFor()
  await page.goto(`${product.url}/app/audit/events?stream=account-${userId}`)
  await page.getByText('CallSettled').first().waitFor()
  expect(faults).toEqual([])
})

it('a verification of everything finds nothing', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/proofs`)
  await page.getByRole('button', { name: en('audit.verify.full') }).click()
  await page.getByText(/nothing was found/).waitFor({ timeout: 60_000 })
  expect(faults).toEqual([])
})

it('the audit log shows a changed option with its values', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/log`)
  const grid = page.getByRole('grid', { name: en('shell.auditLog') })
  await grid.getByRole('row').filter({ hasText: 'ModelRatio' }).first().click()
  await grid
    .getByRole('row', { name: /sim-small/ })
    .first()
    .waitFor()
  expect(faults).toEqual([])
})

it('the latest signed checkpoint is shown to anybody', async () => {
  const { page, faults } = app
  await page.goto(`${product.url}/app/audit/proofs?tab=checkpoints`)
  await page.getByRole('table', { name: en('audit.log.checkpoints') }).waitFor()
  await page.goto(`${product.url}/proof`)
  await page.getByText(/^— \S+ [A-Za-z0-9+/=]{60,}$/m).waitFor({ timeout: 30_000 })
  expect(faults).toEqual([])
})
