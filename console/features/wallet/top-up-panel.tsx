import { choicesOf } from '#console/ui/forms/inputs.tsx'
import './top-up.css'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { PresetButtons, TextField } from '#console/ui/forms/fields.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, moneyText, quotaFromDollars } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { presetAmounts, type TopUp, useTopUp } from './use-top-up.ts'

function TopUpPrice({ topUp }: { topUp: TopUp }) {
  const { t, i18n } = useTranslation()
  const rule = useMoneyRule()
  const { price, priceError, amount, errorText, isCurrent } = topUp
  const quota = quotaFromDollars(String(amount), rule)
  if (priceError !== null && errorText === '') {
    return (
      <p className="tg-topup-error" role="alert">
        {t('request.other', { message: priceError.message })}
      </p>
    )
  }
  // While the entered amount is invalid, no price is shown.
  const hasAmount = errorText === ''
  return (
    <dl className="tg-topup-price" aria-busy={hasAmount && !isCurrent}>
      <LabelledValue name={t('wallet.toPay')}>
        {!hasAmount ? (
          '–'
        ) : price.data === undefined ? (
          <Skeleton width={80} height={24} />
        ) : (
          moneyText(price.data.money, price.data.currency, i18n.language)
        )}
      </LabelledValue>
      <LabelledValue name={t('wallet.quotaToReceive')}>
        {!hasAmount || quota === null ? '–' : exactQuotaText(quota, rule)}
      </LabelledValue>
    </dl>
  )
}

function ConfirmTopUp({ topUp }: { topUp: TopUp }) {
  const { t } = useTranslation()
  const { draft, isAsking, setAsking, isBusy, isCurrent, priceError, submit } = topUp
  return (
    <FormDialog
      isOpen={isAsking}
      title={t('wallet.confirmTitle')}
      lead={t('wallet.confirmLead')}
      submitText={t('wallet.pay')}
      form={{ isBusy, submit: () => void submit(), close: () => setAsking(false) }}
      isDisabled={!isCurrent || priceError !== null}
    >
      <TopUpPrice topUp={topUp} />
      <dl className="tg-topup-price tg-topup-how">
        <LabelledValue name={t('shared.paymentMethod')}>
          {t(`wallet.method_${draft.method}`)}
        </LabelledValue>
        {draft.code.trim() !== '' && (
          <LabelledValue name={t('shared.topUpCode')}>{draft.code.trim()}</LabelledValue>
        )}
      </dl>
    </FormDialog>
  )
}

export function TopUpPanel() {
  const { t } = useTranslation()
  const status = useStatus()
  const topUp = useTopUp()
  if (status === undefined) return null
  if (!status.enable_online_topup) {
    return <Panel title={t('wallet.topUp')} lead={t('wallet.topUpOff')} />
  }
  const openConfirmation = (event: FormEvent): void => {
    event.preventDefault()
    topUp.takeCode()
    if (topUp.errorText === '' && topUp.priceError === null) topUp.setAsking(true)
  }
  return (
    <Panel title={t('wallet.topUp')} lead={t('wallet.topUpLead')}>
      <form className="tg-topup" noValidate onSubmit={openConfirmation}>
        <AmountField topUp={topUp} />
        <RadioCards
          label={t('shared.paymentMethod')}
          value={topUp.draft.method}
          choices={choicesOf(topUp.methods, (value) => t(`wallet.method_${value}`))}
          onChange={(method) => topUp.change({ method })}
        />
        <TextField
          label={t('shared.topUpCode')}
          hint={t('wallet.topUpCodeHint')}
          autoComplete="off"
          maxLength={200}
          value={topUp.draft.code}
          onChange={(code) => topUp.change({ code })}
          onBlur={topUp.takeCode}
        />
        <div className="tg-topup-foot">
          <TopUpPrice topUp={topUp} />
          <Button
            type="submit"
            tone="primary"
            isDisabled={topUp.errorText !== '' || topUp.priceError !== null}
          >
            {t('wallet.pay')}
          </Button>
        </div>
      </form>
      <ConfirmTopUp topUp={topUp} />
    </Panel>
  )
}

function AmountField({ topUp }: { topUp: TopUp }) {
  const { t } = useTranslation()
  const { draft, min, errorText, change } = topUp
  return (
    <div className="tg-topup-amount">
      <TextField
        label={t('wallet.amount')}
        error={errorText}
        isRequired
        isMono
        inputMode="numeric"
        autoComplete="off"
        maxLength={7}
        value={draft.amount}
        onChange={(amount) => change({ amount })}
        onBlur={topUp.typeOut}
      />
      <PresetButtons
        label={t('wallet.commonAmounts')}
        choices={presetAmounts(min).map((preset) => ({
          value: String(preset),
          text: `$${preset}`,
        }))}
        selected={draft.amount}
        onSelect={(amount) => change({ amount })}
      />
    </div>
  )
}
