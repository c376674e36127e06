import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { chatModelsOfGroup } from '#console/api/own-user-group-and-model-queries.ts'
import { useUser } from '#console/api/session.ts'
import { ClientSetup } from '#console/ui/client-setup/client-setup.tsx'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { fullKey, maskedKey } from '#console/ui/elements/token-key.ts'
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
      {tokens[0] !== undefined && <TokenSetup token={tokens[0]} />}
    </Drawer>
  )
}

function TokenSetup({ token }: { token: CreatedToken }) {
  const { t } = useTranslation()
  const ownGroup = useUser()?.group ?? ''
  const query = useQuery(chatModelsOfGroup(token.group || ownGroup))
  const limits = token.model_limits_enabled ? namesOf(token.model_limits) : null
  return (
    <section className="tg-token-setup" aria-label={t('clientSetup.title')}>
      <h3>{t('clientSetup.title')}</h3>
      <QueryView query={query} height={360}>
        {(models) => {
          const [first, ...others] = limits?.filter((name) => models.includes(name)) ?? models
          if (first === undefined) return <p className="tg-hint">{t('tokens.noModelYet')}</p>
          return <ClientSetup apiKey={token.key} models={[first, ...others]} />
        }}
      </QueryView>
    </section>
  )
}
