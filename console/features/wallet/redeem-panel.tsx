import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { selfKey } from '#console/api/own-user-group-and-model-queries.ts'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { Redeemed } from '#write-api/contract/redemptions.ts'
import { creditsKey } from './use-balance-and-credits.ts'

/** The URL parameter `code`, with which a link can fill in a redemption code. */
const URL_PARAMS = { code: textParam() }

export function RedeemPanel() {
  const { t } = useTranslation()
  const { form, redeemed } = useRedeem()
  return (
    <Panel title={t('wallet.redeem')} lead={t('wallet.redeemLead')} actions={<TopUpLink />}>
      <form className="tg-wallet-redeem" {...formProps(form)}>
        <TextField
          label={t('wallet.code')}
          isMono
          autoComplete="off"
          maxLength={200}
          placeholder={t('wallet.codePlaceholder')}
          {...form.field('code')}
        />
        <Button type="submit" tone="primary" isBusy={form.isBusy}>
          {t('wallet.redeemNow')}
        </Button>
      </form>
      <div role="status">{redeemed !== null && <RedeemedNote redeemed={redeemed} />}</div>
    </Panel>
  )
}

function RedeemedNote({ redeemed }: { redeemed: Redeemed }) {
  const { t } = useTranslation()
  const amount = exactQuotaText(quotaOf(redeemed.quota), useMoneyRule())
  return (
    <p className="tg-wallet-given">
      <Icon name="check" size={14} />
      {t(redeemed.is_gift ? 'wallet.giftAdded' : 'wallet.quotaAdded', { amount })}
    </p>
  )
}

function useRedeem() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const rule = useMoneyRule()
  const [urlParams, setUrlParams] = useUrlState(URL_PARAMS)
  const [redeemed, setRedeemed] = useState<Redeemed | null>(null)
  const form = useDraftForm<{ code: string }, 'codeRequired'>({
    initial: () => ({ code: urlParams.code }),
    validate: ({ code }) => (code.trim() === '' ? { code: 'codeRequired' } : {}),
    errorText: (errorKey) => t(`wallet.${errorKey}`),
    save: async ({ code }) => {
      setRedeemed(null)
      try {
        const redeemed = await call('POST /api/user/topup', { body: { key: code.trim() } })
        setRedeemed(redeemed)
        form.change({ code: '' })
        setUrlParams({ code: '' }, { replace: true })
        showSuccess(t('wallet.redeemed', { amount: exactQuotaText(quotaOf(redeemed.quota), rule) }))
      } catch (error) {
        const hasResponse = error instanceof ApiError && error.status !== 0
        showError(hasResponse ? error : t('request.failed'))
        if (hasResponse && error.status === 200) throw new FieldError({ code: error.message })
      } finally {
        await Promise.all([
          client.invalidateQueries({ queryKey: selfKey }),
          client.invalidateQueries({ queryKey: creditsKey }),
        ])
      }
    },
  })
  // While this page is open, the user may follow another link with a code.
  const onLinkedCode = useEffectEvent((code: string) => {
    if (code !== '') form.change({ code })
  })
  useEffect(() => onLinkedCode(urlParams.code), [urlParams.code])
  return { form, redeemed }
}

/**
 * A button that opens the shop that sells redemption codes in a new window. If the super admin has
 * not set the URL of the shop, a click shows an error.
 */
function TopUpLink() {
  const { t } = useTranslation()
  const link = useStatus()?.top_up_link ?? ''
  const open = (): void => {
    if (!/^https?:\/\//.test(link)) showError(t('wallet.noTopUpLink'))
    else window.open(link, '_blank', 'noopener,noreferrer')
  }
  return (
    <Button endIcon="external" onClick={open}>
      {t('wallet.getCode')}
    </Button>
  )
}
