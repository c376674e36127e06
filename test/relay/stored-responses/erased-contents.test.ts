import { randomBytes } from 'node:crypto'
import { constants, deflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { createPools } from '#infra/postgres/pools.ts'
import { createVault } from '#infra/vault/vault.ts'
import { createStoredResponses } from '#relay/stored-responses/stored-response-owners.ts'
import { tablesWith } from '#test/support/search-for-texts.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { KEY, relayRig, TOKEN, USER } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const secretKey = randomBytes(32)
const MODEL = 'claude-opus-4-5'
const PLANTED = ['canary-of-a-prompt', 'canary-of-an-answer'] as const

const provider = startedOnce(scriptedProvider)
const site = startedOnce(async () => {
  const database = await testDatabase()
  const pools = await createPools(database.url)
  const vault = await createVault({ pg: pools.pg, secretKey })
  const storedResponses = await createStoredResponses(pools.pg)
  const { sealBytes, openBytes } = vault
  const sealing = { vault: { sealBytes, openBytes } }
  const rig = await relayRig({ storedResponses }, {}, undefined, sealing)
  return {
    ...{ rig, vault, storedResponses, pg: pools.pg },
    close: async () => {
      await rig.close()
      await pools.close()
      await database.drop()
    },
  }
})

async function ask(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const response = await fetch(`${site.rig.url}${path}`, init)
  return { status: response.status, json: JSON.parse(await response.text()) }
}

/** The file of the contents, with the rows that are stored now and with older versions of them. */
async function fileOfContents(): Promise<Buffer> {
  await site.pg.query('checkpoint')
  const { rows } = await site.pg.query<{ readonly file: Buffer }>(
    `select pg_read_binary_file(pg_relation_filepath('relay.response_contents')) as file`,
  )
  return rows[0]?.file ?? Buffer.alloc(0)
}

type Stored = { readonly response: Buffer; readonly output: Buffer; readonly input: Buffer }

it('the content of an erased user is readable nowhere', async () => {
  const { rig, vault, storedResponses, pg } = site
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('StoreConvertedResponsesEnabled', 'true')
  const [prompt, answer] = PLANTED
  provider.answers.set('POST /v1/messages', {
    body: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL },
      ...{ content: [{ type: 'text', text: answer }], stop_reason: 'end_turn' },
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  })
  const input = [{ role: 'user', content: prompt }]
  const { json: response } = await ask('POST', '/v1/responses', { model: MODEL, input })
  const fetched = await ask('GET', `/v1/responses/${response.id}`)
  expect(JSON.stringify(fetched.json)).toContain(answer)

  // Compressed bytes would hide the texts, so both forms are searched for.
  const compressed = [input, response.output].map((value) =>
    deflateRawSync(JSON.stringify(value), { level: constants.Z_BEST_SPEED }),
  )
  const isReadable = async (): Promise<boolean> => {
    const file = await fileOfContents()
    const inFile = [...PLANTED, ...compressed].some((bytes) => file.includes(bytes))
    return inFile || (await tablesWith(pg, PLANTED)).length > 0
  }
  const { rows } = await pg.query<Stored>('select * from relay.response_contents')
  const sealed = rows.flatMap((row) => [row.response, row.output, row.input])
  expect(sealed).toHaveLength(3)
  expect(await isReadable()).toBe(false)

  await vault.destroyUser(USER)
  expect((await ask('GET', `/v1/responses/${response.id}`)).status).toBe(404)
  const continued = { model: MODEL, input: 'More', previous_response_id: response.id }
  expect((await ask('POST', '/v1/responses', continued)).json.error).toMatchObject({
    code: 'previous_response_not_found',
  })
  const restarted = await createVault({ pg, secretKey })
  for (const bytes of sealed) expect(await restarted.openBytes(USER, bytes)).toBeNull()
  expect(await isReadable()).toBe(false)

  // The search finds content that is stored without encryption.
  const [inputBytes = Buffer.alloc(0), output = Buffer.alloc(0)] = compressed
  await storedResponses.contents.add({
    ...{ tokenId: TOKEN, userId: USER, responseId: 'resp_plain', at: Date.now() },
    ...{ response: output, output, input: inputBytes, outputBytes: 1, inputBytes: 1 },
  })
  expect(await isReadable()).toBe(true)
})
