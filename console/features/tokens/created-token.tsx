import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { chatModelsOfGroup } from '#console/api/account.ts'
import { useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { codeSnippet, SNIPPET_KINDS, type SnippetKind } from '#console/ui/elements/code-snippets.ts'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { fullKey, maskedKey } from '#console/ui/elements/token-key.ts'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { namesOf } from './token-draft.ts'

export type CreatedToken = Pick<
  Token,
  'id' | 'name' | 'key' | 'group' | 'model_limits_enabled' | 'model_limits'
>

export type CreatedTokens = { readonly tokens: readonly CreatedToken[]; readonly areNew: boolean }

const NONE: CreatedTokens = { tokens: [], areNew: true }

export function CreatedTokenDrawer(props: { ready: CreatedTokens | null; onClose: () => void }) {
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
      title={areNew ? created : t('tokens.codeTitle', { name: tokens[0]?.name ?? '' })}
      lead={t('tokens.createdLead')}
      footer={
        <Button tone="primary" onClick={props.onClose}>
          {t('shared.done')}
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

function FirstCall({ token }: { token: CreatedToken }) {
  const { t } = useTranslation()
  const ownGroup = useUser()?.group ?? ''
  const models = useQuery(chatModelsOfGroup(token.group || ownGroup))
  return (
    <section className="tg-first-call" aria-label={t('tokens.firstCall')}>
      <QueryView query={models} height={180}>
        {(names) => <CallSample token={token} model={callableModel(token, names)} />}
      </QueryView>
    </section>
  )
}

function callableModel(token: CreatedToken, models: readonly string[]): string | undefined {
  if (!token.model_limits_enabled) return models[0]
  return namesOf(token.model_limits).find((model) => models.includes(model))
}

function CallSample(props: { token: CreatedToken; model: string | undefined }) {
  const { token, model } = props
  const { t } = useTranslation()
  const [snippet, setSnippet] = useState<SnippetKind>('curl')
  const address = useStatus()?.server_address || window.location.origin
  if (model === undefined) return <p className="tg-hint">{t('tokens.noModelYet')}</p>
  const text = (key: string) => codeSnippet(snippet, { address, model, key })
  return (
    <>
      <header>
        <h3>{t('tokens.firstCall')}</h3>
        <Segmented
          label={t('tokens.snippetKind')}
          value={snippet}
          choices={SNIPPET_KINDS.map((value) => ({ value, label: t(`tokens.snippet.${value}`) }))}
          onChange={setSnippet}
        />
      </header>
      <div className="tg-code">
        <CopyButton text={text(fullKey(token.key))} label={t('tokens.copySnippet')} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it */}
        <pre tabIndex={0}>{text(maskedKey(token.key))}</pre>
      </div>
      <p className="tg-hint">{t('shared.keyMasked')}</p>
    </>
  )
}
