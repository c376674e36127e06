import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testProduct } from '#test/support/test-product.ts'

const product = startedOnce(testProduct)

type Row = { id: number; name: string; base_url: string; fields: { key: string }[] }

describe('GET /api/channel/types', () => {
  it('lists the types that the relay serves, with the fields of each', async () => {
    const rows = await product.root.must<Row[]>('GET', '/api/channel/types')
    expect(rows[0]).toMatchObject({
      id: 1,
      name: 'OpenAI',
      base_url: 'https://api.openai.com',
      bases: [],
      chat_path: '/v1/chat/completions',
      fields: [{ key: 'openai_organization', kind: 'text', default: '', is_required: false }],
      has_balance: true,
      can_list_models: true,
    })
    const cloudflare = rows.find(({ id }) => id === 39)
    expect(cloudflare?.fields).toMatchObject([
      { key: 'other', kind: 'text', is_required: true, label: { zh: '账户 ID', en: 'Account id' } },
    ])
    expect(rows.find(({ id }) => id === 34)).toMatchObject({
      name: 'Cohere',
      chat_path: '/v2/chat',
    })
    expect(rows.map(({ id }) => id)).not.toContain(21)
    const ofTasks = rows.filter(({ id }) => [2, 5, 36].includes(id))
    expect(ofTasks).toMatchObject([
      { name: 'Midjourney', chat_path: '/mj/submit/imagine', can_list_models: false },
      { name: 'Midjourney Plus', models: expect.arrayContaining(['mj_imagine', 'swap_face']) },
      { name: 'Suno API', base_url: '', models: ['suno_music', 'suno_lyrics'] },
    ])
  })

  it('is in the API description', async () => {
    const response = await fetch(`${product.url}/api/openapi.json`)
    const { paths } = (await response.json()) as { paths: Record<string, object> }
    expect(paths['/api/channel/types']).toHaveProperty('get')
  })
})
