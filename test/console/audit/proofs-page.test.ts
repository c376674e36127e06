import { describe, expect, it } from 'vitest'
import type {
  LogStatus,
  RefusedCosignature,
  SignedCheckpoint,
} from '#read-api/contract/transparency-log.ts'
import type { Rebuild, Verification } from '#read-api/contract/verifications.ts'
import { en, TEXTS, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults, WIDTHS } from '../support/accessibility-faults.ts'
import { openAsRoot, startAdminSite } from '../support/admin-site.ts'
import { pageFixture } from '../support/console-fixture.ts'
import { ok } from '../support/fake-site.ts'
import { NOW, REQUEST_ID } from './audit-samples.ts'

const PATH = '/app/audit/proofs'

const verification = (id: string, patch: Partial<Verification> = {}): Verification => ({
  ...{
    id,
    requested_by: null,
    requested_by_name: '',
    status: 'finished',
    requested_at: NOW - 3_600,
  },
  ...{ finished_at: NOW - 3_540, progress: null, error: '', mode: 'full' },
  ...{ from_position: 0, to_position: 1_204_551, root: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ' },
  tree_size: 1_204_551,
  checks: [
    { check: 'positions', count: 1_204_551, findings: 0 },
    { check: 'charges', count: 402_118, findings: 0 },
    { check: 'trial-balance', count: 1, findings: 0 },
  ],
  ...{ finding_count: 0, findings: [], ...patch },
})

const CHANGED = verification('v2', {
  ...{ mode: 'incremental', requested_by: 1, requested_by_name: 'root', from_position: 1_204_000 },
  checks: [{ check: 'charges', count: 180, findings: 1 }],
  finding_count: 1,
  findings: [
    {
      ...{ check: 'charges', position: 1_204_118, stream: 'account-7', revision: 414 },
      detail: `call ${REQUEST_ID} was charged 3370, but price and usage give 3375`,
      parts: [
        { kind: 'text', value: 'call ' },
        { kind: 'call', value: REQUEST_ID },
        { kind: 'text', value: ' was charged ' },
        { kind: 'amount', value: '3370' },
        { kind: 'text', value: ', but price and usage give ' },
        { kind: 'amount', value: '3375' },
      ],
      is_acknowledged: false,
    },
  ],
})

/** Details as long as they can be, without blanks at which they could be wrapped. */
const LONG = verification('v4', {
  finding_count: 2,
  findings: [zh('audit.verify.lead').repeat(10).slice(0, 300), 'x'.repeat(300)].map((detail) => ({
    ...{ check: 'records', position: null, stream: null, revision: null, detail },
    parts: [{ kind: 'text', value: detail }],
    is_acknowledged: false,
  })),
})
const RUNNING = verification('v3', {
  ...{ status: 'running', finished_at: null },
  progress: { stage: 'events', done: 600_000, total: 1_204_551, seconds_left: 31 },
})

const rebuild = (patch: Partial<Rebuild>): Rebuild => ({
  ...{
    id: 'r1',
    requested_by: 1,
    requested_by_name: 'root',
    status: 'running',
    requested_at: NOW - 20,
    finished_at: null,
  },
  ...{ progress: { stage: 'fold', done: 400, total: 1_000, seconds_left: 30 }, error: '' },
  read_models: [
    { name: 'tokens', status: 'finished', done: 1_000, total: 1_000 },
    { name: 'call-log', status: 'running', done: 400, total: 1_000 },
  ],
  ...patch,
})

const HASH = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA='
const checkpoint = (size: number, isFinal: boolean): SignedCheckpoint => ({
  ...{ size, last_position: size, root: HASH, created_at: NOW - 5, is_final: isFinal },
  note: `tallygate.example\n${size}\n${HASH}\n\n— tallygate.example Az3grlgtzPICa5OS8npVmf1\n`,
  cosignatures: isFinal ? [{ witness: 'witness.example', signed_at: NOW - 4 }] : [],
})
const STATUS: LogStatus = {
  ...{ origin: 'tallygate.example', key: `tallygate.example+c74f20a3+${HASH}` },
  ...{ witness_key: `tallygate.example+witness+${HASH}`, latest: checkpoint(1_204_551, true) },
  key_rotations: [],
  refusals: [],
  witnesses: [
    {
      name: 'witness.example',
      key: `witness.example+d81a+${HASH}`,
      size: 1_204_551,
      signed_at: NOW,
    },
    { name: 'other.example', key: `other.example+e92b+${HASH}`, size: null, signed_at: null },
  ],
  quorum: 1,
}

const app = pageFixture({
  startSite: () =>
    startAdminSite({
      'GET /api/transparency-log/status': () => ok(STATUS),
      'GET /api/audit/signed-checkpoints': ({ query }) =>
        query.get('cursor') === null
          ? ok({
              items: [checkpoint(1_204_551, true), checkpoint(1_204_000, false)],
              next_cursor: 4,
            })
          : ok({ items: [checkpoint(1_203_000, true)], next_cursor: null }),
      'GET /api/audit/verifications': () => ok({ items: [CHANGED, verification('v1')] }),
      'GET /api/audit/rebuilds': () =>
        ok({ items: [rebuild({})], read_models: ['tokens', 'call-log', 'users'] }),
    }),
})

describe.each(LANGUAGES)('the page of proofs in %s', (language) => {
  it('has no accessibility fault', async () => {
    const t = TEXTS[language]
    const { page } = await app.openPage({ language })
    await openAsRoot(page, app.site, PATH)
    await page.getByRole('link', { name: REQUEST_ID }).waitFor()
    await page.getByText('root (#1)', { exact: true }).waitFor()
    expect(await lookFaults(page, `audit-verify-${language}`)).toEqual([])
    await page.getByRole('tab', { name: t('audit.proofs.tab.checkpoints') }).click()
    await page.getByRole('cell', { name: '1,204,000' }).waitFor()
    expect(await lookFaults(page, `audit-checkpoints-${language}`)).toEqual([])
    await page.getByRole('tab', { name: t('audit.proofs.tab.export') }).click()
    expect(await lookFaults(page, `audit-export-${language}`)).toEqual([])
    await page.getByRole('tab', { name: t('audit.proofs.tab.rebuilds') }).click()
    await page.getByRole('cell', { name: 'call-log' }).waitFor()
    expect(await lookFaults(page, `audit-rebuilds-${language}`)).toEqual([])
  })
})

it('anybody can read the proof of records, also without a login', async () => {
  await app.page.goto(`${app.site.url}/proof`)
  await app.page.getByRole('heading', { level: 1, name: en('audit.proof.title') }).waitFor()
  await app.page.getByText(`1204551\n${HASH}`).waitFor()
  await app.page.getByText(en('audit.log.notYet')).waitFor()
  // Without their keys, the verifier does not check the signatures of witnesses.
  await app.page.getByText('--key KEY --witness WITNESS_KEY').waitFor()
  await expect
    .poll(() => app.page.getByRole('main').textContent())
    .not.toMatch(/shared\.|audit\.|ui\./)
  expect(await lookFaults(app.page, 'proof')).toEqual([])
})

const REFUSAL: RefusedCosignature = {
  ...{ id: 'r1', witness: 'other.example', size: 1_200_000, refused_at: NOW - 60 },
  ...{ refused_size: 1_200_400, refused_root: HASH },
  acknowledged_at: null,
}

it('a refusal is acknowledged with a reason, and stays shown', async () => {
  let refusals = [REFUSAL]
  app.site.routes['GET /api/transparency-log/status'] = () => ok({ ...STATUS, refusals })
  const path = 'POST /api/audit/refusals/r1/acknowledge'
  app.site.routes[path] = () => {
    refusals = [{ ...REFUSAL, acknowledged_at: NOW }]
    return ok(null)
  }
  await app.openAsRoot(`${PATH}?tab=checkpoints`)
  const acknowledge = { name: en('audit.log.acknowledge') }
  await app.page.getByRole('button', acknowledge).click()
  const dialog = app.page.getByRole('alertdialog', { name: en('audit.log.acknowledgeTitle') })
  await dialog.waitFor()
  expect(await lookFaults(app.page, 'acknowledge', WIDTHS, '[role="alertdialog"]')).toEqual([])
  await dialog.getByRole('button', acknowledge).click()
  await dialog.getByText(en('shared.error.reasonMissing')).waitFor()
  await dialog.getByRole('textbox', { name: en('audit.acts.reason') }).fill('restored')
  await dialog.getByRole('button', acknowledge).click()
  const time = await app.page.evaluate((at) => new Date(at * 1_000).getFullYear(), NOW)
  const note = app.page.getByRole('note').filter({ hasText: String(time) })
  await note.filter({ hasText: 'other.example' }).waitFor()
  expect(app.bodies(path)).toEqual([{ reason: 'restored' }])
  await expect.poll(() => app.page.getByRole('button', acknowledge).count()).toBe(0)
})

it('refusals of one witness are told apart by the trees that it refused', async () => {
  const known = { ...REFUSAL, acknowledged_at: NOW }
  const other = { ...REFUSAL, id: 'r2', refused_size: 1_200_900, refused_root: `Z${HASH}` }
  app.site.routes['GET /api/transparency-log/status'] = () =>
    ok({ ...STATUS, refusals: [known, other] })
  await app.openAsRoot(`${PATH}?tab=checkpoints`)
  const note = app.page.getByRole('note').filter({ hasText: HASH.slice(0, 16) })
  await note.getByText(en('audit.log.refusedTree', { size: '1,200,400' })).waitFor()
  const alert = app.page.getByRole('alert').filter({ hasText: `Z${HASH.slice(0, 15)}` })
  await alert.getByText(en('audit.log.refusedTree', { size: '1,200,900' })).waitFor()
  await alert.getByRole('button', { name: en('audit.log.acknowledge') }).waitFor()
  expect(await lookFaults(app.page, 'refusals')).toEqual([])
})

it('a witness that refuses the history is named to anybody', async () => {
  const refusals = [REFUSAL]
  app.site.routes['GET /api/transparency-log/status'] = () => ok({ ...STATUS, refusals })
  const text = en('audit.log.refused', { name: 'other.example', size: '1,200,000' })
  await app.page.goto(`${app.site.url}/proof`)
  await app.page.getByRole('alert').filter({ hasText: text }).waitFor()
  expect(await lookFaults(app.page, 'proof-refused')).toEqual([])
  await app.openAsRoot(`${PATH}?tab=checkpoints`)
  await app.page.getByRole('alert').filter({ hasText: text }).waitFor()
})

it('a witness that refuses the history is named while nothing is sealed', async () => {
  const refusals = [REFUSAL]
  app.site.routes['GET /api/transparency-log/status'] = () =>
    ok({ ...STATUS, latest: null, refusals })
  await app.page.goto(`${app.site.url}/proof`)
  const text = en('audit.log.refused', { name: 'other.example', size: '1,200,000' })
  await app.page.getByRole('alert').filter({ hasText: text }).waitFor()
  await app.page.getByText(en('audit.log.none')).waitFor()
})

it('without a witness, nothing looks as if anybody else had confirmed it', async () => {
  const latest = { ...checkpoint(1_204_551, true), cosignatures: [] }
  const status = { ...STATUS, latest, witnesses: [], quorum: 0 }
  app.site.routes['GET /api/transparency-log/status'] = () => ok(status)
  await app.page.goto(`${app.site.url}/proof`)
  await app.page.getByText(en('audit.log.noWitnesses')).waitFor()
  await app.page.getByText(en('audit.receipt.state.siteOnly'), { exact: true }).waitFor()
  await app.page.getByText(en('audit.proof.unwitnessed')).waitFor()
  expect(await app.page.getByText(en('audit.proof.witnessed')).count()).toBe(0)
  expect(await app.page.getByText('--witness').count()).toBe(0)
  const final = app.page.getByText(en('audit.receipt.state.final'), { exact: true })
  await expect.poll(() => final.count()).toBe(0)
})

it('older signed checkpoints are appended', async () => {
  await app.openAsRoot(`${PATH}?tab=checkpoints`)
  await app.page.getByRole('button', { name: en('audit.loadOlder') }).click()
  await app.page.getByRole('cell', { name: '1,203,000' }).waitFor()
})

it('a verification is started, shows its progress, and then its result', async () => {
  const items = [verification('v1')]
  app.site.routes['GET /api/audit/verifications'] = () => ok({ items })
  app.site.routes['POST /api/audit/verifications'] = () => {
    items.unshift(RUNNING)
    return ok({ id: RUNNING.id })
  }
  await app.openAsRoot(PATH)
  await app.page.getByRole('button', { name: en('audit.verify.full') }).click()
  const bar = app.page.getByRole('progressbar', { name: en('audit.job.progress') })
  await bar.waitFor()
  await expect.poll(() => bar.getAttribute('value')).toBe('600000')
  const start = app.page.getByRole('button', { name: en('audit.verify.incremental') })
  await expect.poll(() => start.isDisabled()).toBe(true)
  expect(app.bodies('POST /api/audit/verifications')).toEqual([{ mode: 'full' }])
  items[0] = verification('v3', { to_position: 1_204_600 })
  await app.page.getByText(en('audit.verify.clean_other', { events: '1,204,600' })).waitFor()
})

it('a finding names the check, the event and what is wrong', async () => {
  await app.openAsRoot(PATH)
  const finding = app.page.getByRole('row', { name: 'but price and usage give' })
  await finding.waitFor()
  await expect.poll(() => finding.textContent()).toContain('#1204118')
  const text = `call ${REQUEST_ID} was charged $0.00674, but price and usage give $0.00675`
  expect(await finding.textContent()).toContain(text)
  await finding.getByTitle(en('shared.quotaUnits', { quota: '3370' })).waitFor()
  const hrefOf = (name: string) =>
    finding.getByRole('link', { name, exact: true }).getAttribute('href')
  expect(await hrefOf('#1204118')).toBe('/app/audit/events?position=1204118')
  expect(await hrefOf('account-7 #414')).toBe('/app/audit/ledgers/7')
  expect(await hrefOf(REQUEST_ID)).toBe(`/app/calls/${REQUEST_ID}`)
  await app.page.getByText(en('audit.verify.findings_one', { number: '1' })).waitFor()
})

it('the findings follow the language that the reader selects', async () => {
  const answer = (detail: string) =>
    ok({
      items: [
        {
          ...CHANGED,
          findings: [{ ...CHANGED.findings[0], detail, parts: [{ kind: 'text', value: detail }] }],
        },
      ],
    })
  app.site.routes['GET /api/audit/verifications'] = ({ language }) =>
    answer(`the detail in ${language}`)
  const { page } = await app.openPage({ language: 'zh' })
  await openAsRoot(page, app.site, PATH)
  await page.getByText('the detail in zh').waitFor()
  await page.getByRole('button', { name: zh('shell.language') }).click()
  await page.getByRole('menuitemradio', { name: 'English' }).click()
  await page.getByText('the detail in en').waitFor()
})

it.each(LANGUAGES)(
  'details of any length are wrapped, and leave room for the rest in %s',
  async (language) => {
    const { page } = await app.openPage({ language })
    app.site.routes['GET /api/audit/verifications'] = () => ok({ items: [LONG] })
    await openAsRoot(page, app.site, PATH)
    await page.getByText(LONG.findings[0]?.detail ?? '').waitFor()
    const t = TEXTS[language]
    const headHeight = async (name: string) => {
      const head = page.getByRole('table', { name, exact: true }).getByRole('row').first()
      return (await head.boundingBox())?.height
    }
    // The heads of the other columns still fit on one line, as in the table below.
    await expect
      .poll(() => headHeight(t('audit.verify.found')))
      .toBe(await headHeight(t('audit.verify.checks')))
    expect(await lookFaults(page, `audit-long-details-${language}`)).toEqual([])
  },
)

it('a finished verification is marked as good only without findings', async () => {
  await app.openAsRoot(PATH)
  const past = app.page.getByRole('table', { name: en('audit.verify.past') })
  const marksOf = (mode: 'full' | 'incremental', tone: 'good' | 'bad') =>
    past
      .getByRole('row')
      .filter({ hasText: en(`audit.verify.${mode}`) })
      .locator(`.tg-tag-${tone}`)
      .count()
  await past.waitFor()
  expect(await marksOf('incremental', 'bad')).toBe(1)
  expect(await marksOf('incremental', 'good')).toBe(0)
  expect(await marksOf('full', 'good')).toBe(1)
})

it('selected read models are rebuilt', async () => {
  const items = [rebuild({ status: 'finished', progress: null })]
  const read_models = ['tokens', 'call-log', 'users']
  app.site.routes['GET /api/audit/rebuilds'] = () => ok({ items, read_models })
  app.site.routes['POST /api/audit/rebuilds'] = () => ok({ id: 'r2' })
  await app.openAsRoot(`${PATH}?tab=rebuilds`)
  await app.page.getByRole('checkbox', { name: 'users' }).check()
  const start = en('audit.rebuild.start_one', { count: 1 })
  await app.page.getByRole('button', { name: start }).click()
  await expect
    .poll(() => app.bodies('POST /api/audit/rebuilds'))
    .toEqual([{ read_models: ['users'] }])
})

it('the export sends the positions, and refuses what is none', async () => {
  app.site.routes['GET /api/audit/export'] = () => ({
    headers: { 'content-type': 'application/x-tar' },
    body: 'tar',
  })
  await app.openAsRoot(`${PATH}?tab=export`)
  const from = app.page.getByRole('textbox', { name: en('audit.export.from') })
  await from.fill('minus one')
  const start = app.page.getByRole('button', { name: en('shared.export') })
  await expect.poll(() => start.isDisabled()).toBe(true)
  await from.fill('10001')
  const [download] = await Promise.all([app.page.waitForEvent('download'), start.click()])
  expect(download.suggestedFilename()).toBe('audit-export-10001-end.tar')
  expect(app.calls('GET /api/audit/export')[0]?.query.get('from')).toBe('10001')
  // The site has a witness, whose signatures are only verified with its key.
  await app.page.getByText('node verify.mjs . --key KEY --witness WITNESS_KEY').waitFor()
})
