import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redirectToProvider } from '#console/api/oauth-redirect.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { useStatus } from '#console/api/status.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { MiddleEllipsis } from '#console/ui/elements/middle-ellipsis.tsx'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import {
  isMessenger,
  type Messenger,
  MessengerDialog,
} from '#console/ui/login-methods/external-login-buttons.tsx'
import {
  EXTERNAL_ID_FIELDS,
  EXTERNAL_LOGIN_ICONS,
  EXTERNAL_LOGIN_METHODS,
  type ExternalLoginMethod,
  isExternalLoginMethodEnabled,
} from '#console/ui/login-methods/external-login-methods.ts'
import { CancelledError, showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { MePanelProps } from './me-panel-types.ts'

export function LoginMethodBindingsPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const status = useStatus()
  const [dialog, setDialog] = useState<Messenger | null>(null)
  const actions = useBindings(setDialog)
  const rows = EXTERNAL_LOGIN_METHODS.map((method) => ({
    method,
    id: user?.[EXTERNAL_ID_FIELDS[method]] ?? '',
    isOpen: isExternalLoginMethodEnabled(status, method),
  }))
  const shown = rows.filter(({ id, isOpen: isOffered }) => id !== '' || isOffered)
  if (shown.length === 0) return null
  return (
    <Panel title={t('oauth.bindings')} lead={t('oauth.bindingsLead')}>
      <ul className="tg-me-rows">
        {shown.map(({ method, id }) => (
          <li key={method}>
            <div className="tg-binding">
              <Icon name={EXTERNAL_LOGIN_ICONS[method]} />
              <div>
                <p className="tg-me-row-title">{t(`oauth.site.${method}`)}</p>
                <p className="tg-hint">
                  {id === '' ? t('oauth.unbound') : <MiddleEllipsis text={id} />}
                </p>
              </div>
            </div>
            {id === '' ? (
              <Button
                isDisabled={user === undefined}
                isBusy={actions.busy === method}
                onClick={() => void actions.bind(method)}
              >
                {t('oauth.bind')}
              </Button>
            ) : (
              <Button isBusy={actions.busy === method} onClick={() => void actions.unbind(method)}>
                {t('oauth.unbind')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {dialog !== null && <Dialog method={dialog} onClose={() => setDialog(null)} />}
    </Panel>
  )
}

function useBindings(openDialog: (method: Messenger) => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [busy, setBusy] = useState<ExternalLoginMethod | null>(null)
  const run = async (method: ExternalLoginMethod, request: () => Promise<void>) => {
    setBusy(method)
    try {
      await request()
    } catch (error) {
      showError(error)
    } finally {
      setBusy(null)
    }
  }
  const bind = async (method: ExternalLoginMethod): Promise<void> => {
    if (isMessenger(method)) return openDialog(method)
    await run(method, () =>
      retryWithIdentityProof(() => redirectToProvider({ type: method, intent: 'bind' }, '/app/me')),
    )
  }
  const unbind = async (method: ExternalLoginMethod): Promise<void> => {
    const site = t(`oauth.siteNameInSentence.${method}`)
    const texts = { title: t('oauth.unbindTitle', { site }), body: t('oauth.unbindBody', { site }) }
    if (!(await confirm({ ...texts, confirmText: t('oauth.unbind'), tone: 'danger' }))) return
    await run(method, async () => {
      await retryWithIdentityProof(() =>
        call('POST /api/user/unbind', { body: { provider: method } }),
      )
      await client.invalidateQueries({ queryKey: selfQuery.queryKey })
      showSuccess(t('oauth.unboundDone', { site }))
    })
  }
  return { busy, bind, unbind }
}

function Dialog(props: { method: Messenger; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const withIdentityProof = async <T,>(request: () => Promise<T>): Promise<T> => {
    try {
      return await retryWithIdentityProof(request)
    } catch (error) {
      if (error instanceof CancelledError) props.onClose()
      throw error
    }
  }
  const weChat = async (code: string) => {
    await withIdentityProof(() => call('GET /api/oauth/wechat/bind', { query: { code } }))
    await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    showSuccess(t('oauth.weChatBound'))
  }
  return (
    <MessengerDialog
      {...props}
      act="bind"
      title={t('oauth.bindTo', { site: t(`oauth.siteNameInSentence.${props.method}`) })}
      submitText={t('oauth.bind')}
      onCode={weChat}
      getState={() =>
        withIdentityProof(() => call('GET /api/oauth/state', { query: { intent: 'bind' } }))
      }
    />
  )
}
