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
import { TokenDrawer } from './token-drawer.tsx'
import { CreatedTokenDrawer, type CreatedTokens } from './token-keys-and-setup-drawer.tsx'
import { TokenList } from './token-list.tsx'
import { useTokenActions } from './use-token-actions.ts'
import '#console/ui/forms/forms.css'
import './tokens.css'

type TokenDialogs = { edited: Token | 'new' | null; ready: CreatedTokens | null }

const NOTHING: TokenDialogs = { edited: null, ready: null }
const CREATING: TokenDialogs = { edited: 'new', ready: null }

export function TokensPage() {
  const { t } = useTranslation()
  const [dialogs, setDialogs, close] = useTokenDialogs()
  const actions = useTokenActions({
    onEdit: (token) => setDialogs({ edited: token, ready: null }),
    onUse: (token) => setDialogs({ edited: null, ready: { tokens: [token], areNew: false } }),
  })
  const create = () => setDialogs(CREATING)
  return (
    <Page
      title={t('shell.tokens')}
      lead={t('tokens.lead')}
      actions={<CreateButton text={t('tokens.create')} onClick={create} />}
    >
      <Alert>{t('tokens.banner')}</Alert>
      <TokenList actions={actions} onCreate={create} />
      <TokenDrawer
        edited={dialogs.edited}
        onClose={close}
        onCreated={(tokens) => setDialogs({ edited: null, ready: { tokens, areNew: true } })}
      />
      <CreatedTokenDrawer ready={dialogs.ready} onClose={close} />
    </Page>
  )
}

const URL_PARAMS = { form: choiceParam(['', 'new'], '') }

/**
 * Returns the dialogs that are open on the page, and functions that change and close them. A link
 * to this page can open the form for a new token. Such a link can also name the page that opens
 * when the form closes.
 */
function useTokenDialogs() {
  const navigate = useNavigate()
  const returnTo = formReturnPath(useLocation().state)
  const [{ form }] = useUrlState(URL_PARAMS)
  const [dialogs, setDialogs] = useState<TokenDialogs>(form === 'new' ? CREATING : NOTHING)
  const close = () => {
    if (returnTo !== null) return void navigate(returnTo, { state: LEAVE_CONFIRMED })
    setDialogs(NOTHING)
    if (form !== '') void navigate({ search: '' }, { replace: true, preventScrollReset: true })
  }
  return [dialogs, setDialogs, close] as const
}
