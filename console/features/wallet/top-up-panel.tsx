import type { FormEvent, ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { RadioCards } from '#console/ui/switches.tsx'
import { ConfirmTopUp } from './confirm-top-up.tsx'
import { picksFrom } from './top-up-draft.ts'
import { TopUpPrice } from './top-up-price.tsx'
import { type TopUp, useTopUp } from './use-top-up.ts'
import './top-up.css'

/** An amount, a way to pay, and what it comes to while one types. */
export function TopUpPanel(): ReactElement | null {
  const { t } = useTranslation()
  const status = useStatus()
  const topUp = useTopUp()
  if (status === undefined) return null
  if (!status.enable_online_topup) {
    return <Panel title={t('wallet.topUp')} lead={t('wallet.topUpOff')} />
  }
  const ask = (event: FormEvent): void => {
    event.preventDefault()
    topUp.takeCode()
    if (topUp.fault === '' && topUp.refusal === null) topUp.setAsking(true)
  }
  return (
    <Panel title={t('wallet.topUp')} lead={t('wallet.topUpLead')}>
      <form className="tg-topup" noValidate onSubmit={ask}>
        <AmountField topUp={topUp} />
        <RadioCards
          label={t('wallet.method')}
          value={topUp.draft.method}
          choices={topUp.methods.map((value) => ({ value, label: t(`wallet.method_${value}`) }))}
          onChange={(method) => topUp.change({ method })}
        />
        <FormField label={t('wallet.topUpCode')} hint={t('wallet.topUpCodeHint')}>
          {(control) => (
            <TextInput
              {...control}
              autoComplete="off"
              spellCheck={false}
              maxLength={200}
              value={topUp.draft.code}
              onChange={(code) => topUp.change({ code })}
              onBlur={topUp.takeCode}
            />
          )}
        </FormField>
        <div className="tg-topup-foot">
          <TopUpPrice topUp={topUp} />
          <Button
            type="submit"
            tone="primary"
            isDisabled={topUp.fault !== '' || topUp.refusal !== null}
          >
            {t('wallet.pay')}
          </Button>
        </div>
      </form>
      <ConfirmTopUp topUp={topUp} />
    </Panel>
  )
}

function AmountField({ topUp }: { topUp: TopUp }): ReactElement {
  const { t } = useTranslation()
  const { draft, least, fault, change } = topUp
  return (
    <div className="tg-topup-amount">
      <FormField label={t('wallet.amount')} error={fault} isRequired>
        {(control) => (
          <TextInput
            {...control}
            isMono
            inputMode="numeric"
            autoComplete="off"
            maxLength={7}
            value={draft.amount}
            onChange={(amount) => change({ amount })}
            onBlur={topUp.typeOut}
          />
        )}
      </FormField>
      <fieldset className="tg-topup-picks" aria-label={t('wallet.amountPicks')}>
        {picksFrom(least).map((pick) => (
          <button
            key={pick}
            type="button"
            aria-pressed={String(pick) === draft.amount}
            onClick={() => change({ amount: String(pick) })}
          >
            ${pick}
          </button>
        ))}
      </fieldset>
    </div>
  )
}
