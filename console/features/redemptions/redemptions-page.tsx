import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/token-and-redemption-queries.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { Button, CreateButton } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { confirmDelete } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { type CsvRedemption, saveCsv } from './redemption-csv.ts'
import { RedemptionDrawer } from './redemption-drawer.tsx'
import { RedemptionList } from './redemption-list.tsx'
import '../../ui/forms/forms.css'
import './redemptions.css'

function CreatedRedemptionsDrawer(props: {
  redemptions: readonly CsvRedemption[] | null
  onClose: () => void
}) {
  const { t } = useTranslation()
  const redemptions = useDialogItem(props.redemptions).lastItem ?? []
  const keys = redemptions.map(({ key }) => key)
  return (
    <Drawer
      isOpen={props.redemptions !== null}
      onClose={props.onClose}
      title={t('redemptions.createdTitle', { count: redemptions.length })}
      lead={t('redemptions.createdLead')}
      footer={
        <Button tone="primary" onClick={props.onClose}>
          {t('shared.done')}
        </Button>
      }
    >
      <div className="tg-actions tg-redemption-ready">
        <CopyButton text={keys.join('\n')} label={t('redemptions.copyAll')}>
          {t('redemptions.copyAll')}
        </CopyButton>
        <Button size="small" icon="download" onClick={() => saveCsv(redemptions)}>
          {t('redemptions.downloadCsv')}
        </Button>
      </div>
      <ul className="tg-ready-keys">
        {keys.map((key, at) => (
          <li key={key}>
            <code className="tg-redemption-created">{key}</code>
            <span />
            <CopyButton text={key} label={t('redemptions.copyOne', { number: at + 1 })} />
          </li>
        ))}
      </ul>
    </Drawer>
  )
}

export const RedemptionsPage = adminPage('redemptions.title', Redemptions)

type RedemptionDialogs = {
  edited: Redemption | 'new' | null
  created: readonly CsvRedemption[] | null
  isDeleting: boolean
}

const ALL_CLOSED: RedemptionDialogs = { edited: null, created: null, isDeleting: false }

function Redemptions() {
  const { t } = useTranslation()
  const [dialogs, setDialogs] = useState<RedemptionDialogs>(ALL_CLOSED)
  const show = (part: Partial<RedemptionDialogs>) => setDialogs({ ...ALL_CLOSED, ...part })
  const create = () => show({ edited: 'new' })
  const close = () => show({})
  return (
    <Page
      title={t('redemptions.title')}
      lead={t('redemptions.lead')}
      actions={<CreateButton text={t('redemptions.create')} onClick={create} />}
    >
      <RedemptionList
        onCreate={create}
        onEdit={(edited) => show({ edited })}
        onDeleteByName={() => show({ isDeleting: true })}
      />
      <RedemptionDrawer
        edited={dialogs.edited}
        onClose={close}
        onCreated={(created) => show({ created })}
      />
      <CreatedRedemptionsDrawer redemptions={dialogs.created} onClose={close} />
      <DeleteByName isOpen={dialogs.isDeleting} onClose={close} />
    </Page>
  )
}

function DeleteByName(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useDraftForm({
    onClose: props.onClose,
    initial: () => ({ name: '' }),
    save: async (draft) => {
      const name = draft.name.trim()
      if (name === '') throw new FieldError({ name: t('redemptions.error.nameMissing') })
      const count = await call('GET /api/redemption/count-by-name', { query: { name } })
      if (count === 0) throw new FieldError({ name: t('redemptions.noneOfName') })
      const title = t('redemptions.deleteNamedTitle', { name })
      const body = t('redemptions.deleteNamedBody', { count })
      if (!(await confirmDelete(title, body))) return
      const deleted = await call('DELETE /api/redemption/delete-by-name', { query: { name } })
      showSuccess(t('redemptions.deleted', { count: deleted }))
      form.close()
      await client.invalidateQueries({ queryKey: redemptionsKey })
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('redemptions.deleteByName')}
      lead={t('redemptions.deleteByNameLead')}
      submitText={t('redemptions.countFirst')}
      tone="danger"
      form={form}
    >
      <TextField label={t('shared.name')} isRequired autoComplete="off" {...form.field('name')} />
    </FormDialog>
  )
}
