import { type ReactElement, useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { Page } from '#console/ui/page.tsx'
import type { Token } from '#read-api/contract/token.ts'
import { TokenDrawer } from './token-drawer.tsx'
import { TokenList } from './token-list.tsx'
import { type Ready, TokenReady } from './token-ready.tsx'
import { useTokenActions } from './use-token-actions.ts'
import '#console/ui/forms.css'
import './tokens.css'

type Shown = { edited: Token | 'new' | null; ready: Ready | null }

const NOTHING: Shown = { edited: null, ready: null }

/** One's own API tokens: list, search, create, edit, switch off, copy, delete. */
export function TokensPage(): ReactElement {
  const { t } = useTranslation()
  const [shown, setShown] = useState<Shown>(NOTHING)
  const actions = useTokenActions()
  const create = () => setShown({ edited: 'new', ready: null })
  const edit = useCallback((token: Token) => setShown({ edited: token, ready: null }), [])
  const showCode = useCallback(
    (token: Token) => setShown({ edited: null, ready: { tokens: [token], areNew: false } }),
    [],
  )
  return (
    <Page
      title={t('tokens.title')}
      lead={t('tokens.lead')}
      actions={
        <Button tone="primary" icon="add" onClick={create}>
          {t('tokens.create')}
        </Button>
      }
    >
      <p className="tg-alert">
        <Icon name="info" />
        {t('tokens.banner')}
      </p>
      <TokenList actions={actions} onEdit={edit} onSnippets={showCode} onCreate={create} />
      <TokenDrawer
        edited={shown.edited}
        onClose={() => setShown(NOTHING)}
        onCreated={(tokens) => setShown({ edited: null, ready: { tokens, areNew: true } })}
      />
      <TokenReady ready={shown.ready} onClose={() => setShown(NOTHING)} />
    </Page>
  )
}
