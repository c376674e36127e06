import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { CreateButton } from '#console/ui/elements/button.tsx'
import { formReturnPath } from '#console/ui/forms/form-return-path.ts'
import { LEAVE_CONFIRMED } from '#console/ui/forms/use-leave-guard.ts'
import { Page } from '#console/ui/layout/page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { CreatedTokenDrawer, type CreatedTokens } from './created-token.tsx'
import { TokenDrawer } from './token-drawer.tsx'
import { TokenList } from './token-list.tsx'
import { useTokenActions } from './use-token-actions.ts'
import '#console/ui/forms/forms.css'
import './tokens.css'

type Shown = { edited: Token | 'new' | null; ready: CreatedTokens | null }

const NOTHING: Shown = { edited: null, ready: null }
const CREATING: Shown = { edited: 'new', ready: null }

export function TokensPage() {
  const { t } = useTranslation()
  const [shown, setShown, close] = useShown()
  const actions = useTokenActions({
    onEdit: (token) => setShown({ edited: token, ready: null }),
    onSnippets: (token) => setShown({ edited: null, ready: { tokens: [token], areNew: false } }),
  })
  const create = () => setShown(CREATING)
  return (
    <Page
      title={t('shell.tokens')}
      lead={t('tokens.lead')}
      actions={<CreateButton text={t('tokens.create')} onClick={create} />}
    >
      <Alert>{t('tokens.banner')}</Alert>
      <TokenList actions={actions} onCreate={create} />
      <TokenDrawer
        edited={shown.edited}
        onClose={close}
        onCreated={(tokens) => setShown({ edited: null, ready: { tokens, areNew: true } })}
      />
      <CreatedTokenDrawer ready={shown.ready} onClose={close} />
    </Page>
  )
}

const ADDRESS = { form: choiceParam(['', 'new'], '') }

/** A link can open the form of a new token and name the page to return to. */
function useShown() {
  const navigate = useNavigate()
  const returnTo = formReturnPath(useLocation().state)
  const [{ form }] = useUrlState(ADDRESS)
  const [shown, setShown] = useState<Shown>(form === 'new' ? CREATING : NOTHING)
  const close = () => {
    if (returnTo !== null) return void navigate(returnTo, { state: LEAVE_CONFIRMED })
    setShown(NOTHING)
    if (form !== '') void navigate({ search: '' }, { replace: true, preventScrollReset: true })
  }
  return [shown, setShown, close] as const
}
