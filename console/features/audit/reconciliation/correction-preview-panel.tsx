import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { CorrectionPreview } from '#write-api/contract/repricing-and-corrections.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { useUserNames } from '../elements/user-names.ts'
import {
  CallLink,
  CallTable,
  Figures,
  INITIAL_CALLS,
  ResultPart,
  UserLink,
} from './result-tables.tsx'

/**
 * A preview of a correction. `key` identifies the values of the form for which the preview was
 * computed. When these values change, the preview is hidden.
 */
export type RequestedPreview = {
  readonly key: string
  readonly model: string
  readonly at: number
  readonly preview: CorrectionPreview
}

type Props = { previewed: RequestedPreview; onApplied: () => Promise<void> }

/**
 * Shows how a correction changes the balances of the most affected users (at most 100) and the
 * charges of the calls with the largest changes (at most 100). Also lists the first 100 calls that
 * can't be corrected. If there are calls to correct, a button opens the dialog that applies the
 * correction.
 */
export function CorrectionPreviewPanel({ previewed, onApplied }: Props) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const [isApplying, setApplying] = useState(false)
  const { preview, at } = previewed
  const { calls, accounts, refunded, charged, unpaid, skipped } = preview
  return (
    <Panel
      title={t('shared.preview')}
      lead={t('reconciliation.correction.previewLead', { time: stampText(Math.floor(at)) })}
      actions={
        calls > 0 && (
          <Button tone="danger" onClick={() => setApplying(true)}>
            {t('reconciliation.correction.apply')}
          </Button>
        )
      }
    >
      {calls === 0 ? (
        <EmptyState
          icon="check"
          title={t('reconciliation.correction.nothing')}
          body={t('reconciliation.correction.nothingLead')}
        />
      ) : (
        <>
          <Figures
            figures={[
              [t('shared.calls'), number.format(calls)],
              [t('audit.accounts.title'), number.format(accounts)],
              [
                t('reconciliation.correction.refunded'),
                <ExactQuota key="refunded" value={refunded} />,
              ],
              [
                t('reconciliation.correction.charged'),
                <ExactQuota key="charged" value={charged} />,
              ],
              [t('reconciliation.correction.unpaid'), <ExactQuota key="unpaid" value={unpaid} />],
              [t('reconciliation.figure.skipped'), number.format(skipped)],
            ]}
          />
          {unpaid > 0 && <Alert role="note">{t('reconciliation.correction.unpaidHint')}</Alert>}
          <Changes preview={preview} />
        </>
      )}
      {skipped > 0 && <SkippedCalls preview={preview} />}
      {isApplying && (
        <ApplyDialog
          previewed={previewed}
          onApplied={onApplied}
          onClose={() => setApplying(false)}
        />
      )}
    </Panel>
  )
}

function Changes({ preview }: { preview: CorrectionPreview }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const names = useUserNames(preview.users.map(({ user_id: id }) => id))
  const hasUnpaid = preview.unpaid > 0
  return (
    <>
      <ResultPart title={t('reconciliation.correction.byUser')}>
        <ColumnTable
          label={t('reconciliation.correction.byUser')}
          isShort={!hasUnpaid}
          rows={preview.users}
          rowKey={({ user_id: id }) => String(id)}
          columns={[
            [t('shared.user'), ({ user_id: id }) => <UserLink id={id} name={names.get(id)} />],
            [{ end: t('shared.calls') }, ({ calls }) => number.format(calls)],
            // `amount` is the charge to the account. The balance changes by the opposite amount.
            [{ end: t('shared.amount') }, ({ amount }) => <QuotaChange value={-amount} />],
            hasUnpaid && [
              { end: t('reconciliation.correction.unpaid') },
              ({ unpaid }) => <ExactQuota value={unpaid} />,
            ],
          ]}
        />
      </ResultPart>
      <ResultPart title={t('reconciliation.correction.calls')}>
        <CallTable
          label={t('reconciliation.correction.calls')}
          otherName={t('reconciliation.correction.corrected')}
          calls={preview.largest.map(({ corrected, ...row }) => ({ ...row, other: corrected }))}
        />
      </ResultPart>
    </>
  )
}

function SkippedCalls({ preview }: { preview: CorrectionPreview }) {
  const { t } = useTranslation()
  const { skipped, skipped_calls: calls } = preview
  const names = useUserNames(calls.map(({ user_id: id }) => id))
  const title = t('reconciliation.correction.skippedTitle', { shown: calls.length, all: skipped })
  return (
    <ResultPart title={title}>
      <ColumnTable
        label={title}
        initialRows={INITIAL_CALLS}
        rows={calls}
        rowKey={({ request_id: id }) => id}
        columns={[
          [t('shared.requestId'), ({ request_id: id }) => <CallLink requestId={id} />],
          [t('shared.user'), ({ user_id: id }) => <UserLink id={id} name={names.get(id)} />],
          [
            t('reconciliation.correction.why'),
            ({ reason }) => t(`reconciliation.correction.skip.${reason}`),
          ],
        ]}
      />
    </ResultPart>
  )
}

/**
 * Asks the super admin to confirm a correction. The dialog shows the totals of the preview and asks
 * for the reason. The server refuses the correction if the preview is outdated.
 */
function ApplyDialog(props: Props & { onClose: () => void }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const rule = useMoneyRule()
  const { preview, model } = props.previewed
  const money = (value: number): string => exactQuotaText(quotaOf(value), rule)
  const applyCorrection = useApplyCorrection()
  const form = useDraftForm({
    initial: () => ({ reason: '' }),
    save: async ({ reason }) => {
      const text = reason.trim()
      if (text === '') throw new FieldError({ reason: t('shared.error.reasonMissing') })
      await applyCorrection({ preview: preview.preview, reason: text })
      props.onClose()
      await props.onApplied()
    },
  })
  return (
    <FormDialog
      isOpen
      role="alertdialog"
      title={t('reconciliation.correction.applyTitle')}
      lead={t('reconciliation.correction.applyLead', {
        ...{ count: preview.calls, number: number.format(preview.calls), model },
        ...{ refunded: money(preview.refunded), charged: money(preview.charged) },
      })}
      submitText={t('reconciliation.correction.applySubmit')}
      tone="danger"
      form={form}
      onClose={props.onClose}
    >
      <TextField
        label={t('audit.acts.reason')}
        hint={t('reconciliation.correction.reasonHint')}
        isRequired
        maxLength={1_000}
        {...form.field('reason')}
      />
    </FormDialog>
  )
}

/**
 * Returns a function that applies a previewed correction, and then shows a message with the number
 * of corrected calls.
 */
export function useApplyCorrection() {
  const { t } = useTranslation()
  return async (body: { preview: string; reason: string }): Promise<void> => {
    const { applied } = await retryWithIdentityProof(() =>
      call('POST /api/audit/corrections', { body }),
    )
    showSuccess(t('reconciliation.correction.applied', { count: applied.calls }))
  }
}
