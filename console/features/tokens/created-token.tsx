import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { chatModelsOfGroup } from '#console/api/account.ts'
import { useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { fullKey } from '#console/ui/elements/full-key.ts'
import { Segmented } from '#console/ui/forms/switches.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { namesOf } from './token-draft.ts'
import { maskedKey } from './token-status.ts'

const SNIPPETS = ['curl', 'python', 'node'] as const
type Snippet = (typeof SNIPPETS)[number]

type SnippetInput = { address: string; key: string; model: string }

/** Returns sample code for a first call. The user can run the code without changes. */
function snippetText(snippet: Snippet, { address, key, model }: SnippetInput): string {
  const base = `${address.replace(/\/+$/, '')}/v1`
  if (snippet === 'curl') return curl(base, key, model)
  return snippet === 'python' ? python(base, key, model) : node(base, key, model)
}

const curl = (base: string, key: string, model: string): string =>
  [
    `curl ${base}/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })}'`,
  ].join('\n')

const python = (base: string, key: string, model: string): string =>
  [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${base}", api_key="${key}")`,
    'reply = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ')',
    'print(reply.choices[0].message.content)',
  ].join('\n')

const node = (base: string, key: string, model: string): string =>
  [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' })`,
    'const reply = await client.chat.completions.create({',
    `  model: ${JSON.stringify(model)},`,
    "  messages: [{ role: 'user', content: 'Hello' }],",
    '})',
    'console.log(reply.choices[0].message.content)',
  ].join('\n')

export type ReadyToken = Pick<
  Token,
  'id' | 'name' | 'key' | 'group' | 'model_limits_enabled' | 'model_limits'
>

/** The tokens to display. `areNew` is true for new tokens and false for an existing token. */
export type Ready = { readonly tokens: readonly ReadyToken[]; readonly areNew: boolean }

const NONE: Ready = { tokens: [], areNew: true }

/** Shows a token's key, and code that makes a first call with it. */
export function TokenReady(props: { ready: Ready | null; onClose: () => void }) {
  const { t } = useTranslation()
  const last = useRef(NONE)
  if (props.ready !== null) last.current = props.ready
  const { tokens, areNew } = last.current
  const many = tokens.length > 1
  const created = many
    ? t('tokens.createdMany', { count: tokens.length })
    : t('tokens.createdTitle')
  return (
    <Drawer
      isOpen={props.ready !== null}
      onClose={props.onClose}
      title={areNew ? created : t('tokens.codeTitle', { name: tokens[0]?.name })}
      lead={t('tokens.createdLead')}
      footer={
        <Button tone="primary" onClick={props.onClose}>
          {t('words.done')}
        </Button>
      }
    >
      <ul className="tg-ready-keys">
        {tokens.map((token) => (
          <li key={token.id}>
            <span className="tg-cell-strong">{token.name}</span>
            <code>{maskedKey(token.key)}</code>
            <CopyButton text={fullKey(token.key)} label={t('tokens.copyKey', { name: token.name })}>
              {t('ui.copy')}
            </CopyButton>
          </li>
        ))}
      </ul>
      {many && (
        <CopyButton
          text={tokens.map(({ key }) => fullKey(key)).join('\n')}
          label={t('tokens.copyAllKeys')}
        >
          {t('tokens.copyAllKeys')}
        </CopyButton>
      )}
      {tokens[0] !== undefined && <FirstCall token={tokens[0]} />}
    </Drawer>
  )
}

function FirstCall({ token }: { token: ReadyToken }) {
  const { t } = useTranslation()
  const ownGroup = useUser()?.group ?? ''
  const models = useQuery(chatModelsOfGroup(token.group || ownGroup))
  return (
    <section className="tg-first-call" aria-label={t('tokens.firstCall')}>
      <QueryView query={models} height={180}>
        {(names) => <Sample token={token} model={callable(token, names)} />}
      </QueryView>
    </section>
  )
}

/** Returns a model that the token can call now, or undefined if there is none. */
function callable(token: ReadyToken, models: readonly string[]): string | undefined {
  if (!token.model_limits_enabled) return models[0]
  return namesOf(token.model_limits).find((model) => models.includes(model))
}

function Sample(props: { token: ReadyToken; model: string | undefined }) {
  const { token, model } = props
  const { t } = useTranslation()
  const [snippet, setSnippet] = useState<Snippet>('curl')
  const address = useStatus()?.server_address || window.location.origin
  if (model === undefined) return <p className="tg-hint">{t('tokens.noModelYet')}</p>
  const text = (key: string) => snippetText(snippet, { address, model, key })
  return (
    <>
      <header>
        <h3>{t('tokens.firstCall')}</h3>
        <Segmented
          label={t('tokens.snippetKind')}
          value={snippet}
          choices={SNIPPETS.map((value) => ({ value, label: t(`tokens.snippet.${value}`) }))}
          onChange={setSnippet}
        />
      </header>
      <div className="tg-code">
        <CopyButton text={text(fullKey(token.key))} label={t('tokens.copySnippet')} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
        <pre tabIndex={0}>{text(maskedKey(token.key))}</pre>
      </div>
      <p className="tg-hint">{t('tokens.keyHidden')}</p>
    </>
  )
}
