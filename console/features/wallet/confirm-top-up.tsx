import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { TopUpPrice } from './top-up-price.tsx'
import type { TopUp } from './use-top-up.ts'

/** Once more what it costs and how it is paid, before the page is left. */
export function ConfirmTopUp({ topUp }: { topUp: TopUp }): ReactElement {
  const { t } = useTranslation()
  const { draft, isAsking, setAsking, isBusy, isCurrent, refusal, submit } = topUp
  return (
    <FormDialog
      isOpen={isAsking}
      title={t('wallet.confirmTitle')}
      lead={t('wallet.confirmLead')}
      submitText={t('wallet.pay')}
      isBusy={isBusy}
      isDisabled={!isCurrent || refusal !== null}
      onSubmit={() => void submit()}
      onClose={() => setAsking(false)}
    >
      <TopUpPrice topUp={topUp} />
      <dl className="tg-topup-price tg-topup-how">
        <div>
          <dt>{t('wallet.method')}</dt>
          <dd>{t(`wallet.method_${draft.method}`)}</dd>
        </div>
        {draft.code.trim() !== '' && (
          <div>
            <dt>{t('wallet.topUpCode')}</dt>
            <dd>{draft.code.trim()}</dd>
          </div>
        )}
      </dl>
    </FormDialog>
  )
}
