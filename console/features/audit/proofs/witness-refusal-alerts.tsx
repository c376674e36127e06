import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { RefusedCosignature } from '#read-api/contract/transparency-log.ts'
import { Hash } from '../elements/amounts-and-hashes.tsx'

/**
 * Warns of witnesses that refuse to sign checkpoints. If `isEditable` is true, admins can
 * acknowledge a refusal. An acknowledged refusal stays listed, because it still means that two
 * versions of the history exist.
 */
export function RefusalAlerts(props: {
  refusals: readonly RefusedCosignature[]
  isEditable: boolean
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const mayAcknowledge = isAdmin(useUser()) && props.isEditable && currentScratchCopy() === null
  const [selected, setSelected] = useState<RefusedCosignature | null>(null)
  return (
    <>
      {props.refusals.map((refusal) => {
        const { id, witness, size, acknowledged_at: at } = refusal
        return (
          <Alert key={id} {...(at === null ? { tone: 'bad' as const } : { role: 'note' as const })}>
            <span>
              {t('audit.log.refused', { name: witness, size: number.format(size) })}{' '}
              {at !== null && t('audit.log.acknowledged', { time: stampText(at) })}
              {refusal.refused_root !== null && (
                <span className="tg-proofs-refused">
                  {t('audit.log.refusedTree', { size: number.format(refusal.refused_size) })}{' '}
                  <Hash value={refusal.refused_root} />
                </span>
              )}
            </span>
            {at === null && mayAcknowledge && (
              <Button onClick={() => setSelected(refusal)}>{t('audit.log.acknowledge')}</Button>
            )}
          </Alert>
        )
      })}
      {selected !== null && (
        <AcknowledgeDialog refusal={selected} onClose={() => setSelected(null)} />
      )}
    </>
  )
}

function AcknowledgeDialog(props: { refusal: RefusedCosignature; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { id, witness } = props.refusal
  const form = useDraftForm({
    initial: () => ({ reason: '' }),
    save: async ({ reason }) => {
      const text = reason.trim()
      if (text === '') throw new FieldError({ reason: t('audit.log.acknowledgeMissing') })
      const request = { params: { id }, body: { reason: text } }
      await call('POST /api/audit/refusals/:id/acknowledge', request)
      showSuccess(t('audit.log.acknowledgeDone'))
      props.onClose()
      await client.invalidateQueries({ queryKey: ['GET /api/transparency-log/status'] })
    },
  })
  return (
    <FormDialog
      isOpen
      role="alertdialog"
      title={t('audit.log.acknowledgeTitle')}
      lead={t('audit.log.acknowledgeLead', { name: witness })}
      submitText={t('audit.log.acknowledge')}
      tone="danger"
      form={form}
      onClose={props.onClose}
    >
      <TextField
        label={t('audit.acts.reason')}
        hint={t('audit.log.acknowledgeHint')}
        isRequired
        maxLength={1_000}
        {...form.field('reason')}
      />
    </FormDialog>
  )
}
