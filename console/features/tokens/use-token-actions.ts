import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import type { ListPage } from '#console/api/request.ts'
import { tokensKey } from '#console/api/tokens.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { fullKey } from '#console/ui/elements/full-key.ts'
import { showError, showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { Token } from '#read-api/contract/tokens.ts'

export type TokenActions = {
  setEnabled: (tokens: readonly Token[], isEnabled: boolean) => Promise<void>
  remove: (tokens: readonly Token[]) => Promise<boolean>
  copyKeys: (tokens: readonly Token[]) => Promise<void>
}

/** Actions on tokens. The list shows a change before the server responds. */
export function useTokenActions(): TokenActions {
  const setEnabled = useSwitch()
  const { t } = useTranslation()
  const client = useQueryClient()
  const remove = async (tokens: readonly Token[]) => {
    const [first] = tokens
    if (first === undefined) {
      showError(t('tokens.chooseFirst'))
      return false
    }
    const title =
      tokens.length === 1
        ? t('tokens.deleteTitle', { name: first.name })
        : t('tokens.deleteManyTitle', { count: tokens.length })
    const words = { title, body: t('tokens.deleteBody'), confirmText: t('words.delete') }
    if (!(await confirm({ ...words, tone: 'danger' }))) return false
    try {
      await deleteTokens(tokens.map(({ id }) => id))
      showSuccess(t('tokens.deleted', { count: tokens.length }))
      return true
    } catch (error) {
      showError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: tokensKey })
    }
  }
  const copyKeys = async (tokens: readonly Token[]) => {
    if (tokens.length === 0) return showError(t('tokens.chooseFirst'))
    const text = tokens.map(({ key }) => fullKey(key)).join('\n')
    if (await copyText(text)) showSuccess(t('tokens.keysCopied', { count: tokens.length }))
  }
  return { setEnabled, remove, copyKeys }
}

/** Enables or disables the tokens and offers an undo. Skips tokens that already have the status. */
function useSwitch(): TokenActions['setEnabled'] {
  const { t } = useTranslation()
  const client = useQueryClient()
  const show = (ids: ReadonlySet<number>, status: number) =>
    client.setQueriesData<ListPage<Token>>({ queryKey: tokensKey }, (page) =>
      page === undefined ? undefined : { ...page, items: withStatus(page.items, ids, status) },
    )
  const setEnabled = async (tokens: readonly Token[], isEnabled: boolean) => {
    if (tokens.length === 0) return showError(t('tokens.chooseFirst'))
    const [status, before] = isEnabled ? ([1, 2] as const) : ([2, 1] as const)
    const switched = tokens.filter((token) => token.status === before)
    const [first] = switched
    if (first === undefined) return showInfo(t('tokens.nothingToSwitch'))
    const ids = switched.map(({ id }) => id)
    await client.cancelQueries({ queryKey: tokensKey })
    show(new Set(ids), status)
    try {
      await switchTokens(ids, status)
    } catch (error) {
      show(new Set(ids), before)
      return showError(error)
    }
    await client.invalidateQueries({ queryKey: tokensKey })
    const now = switched.map((token) => ({ ...token, status }))
    const undo = () => void setEnabled(now, !isEnabled)
    const words = { name: first.name, count: switched.length }
    const one = isEnabled ? t('words.enabledNamed', words) : t('words.disabledNamed', words)
    const many = isEnabled ? t('tokens.enabledMany', words) : t('tokens.disabledMany', words)
    const action = { text: t('words.undo'), onClick: undo }
    showSuccess(switched.length === 1 ? one : many, { action })
  }
  return setEnabled
}

const withStatus = (items: readonly Token[], ids: ReadonlySet<number>, status: number): Token[] =>
  items.map((token) => (ids.has(token.id) ? { ...token, status } : token))

/** Deletes all of the tokens. After an error, none of the tokens is deleted. */
async function deleteTokens(ids: readonly number[]): Promise<void> {
  const [id] = ids
  if (ids.length === 1) await call('DELETE /api/token/:id/', { params: { id } })
  else await call('POST /api/token/batch', { body: { ids: [...ids] } })
}

/** Sets the status of all tokens: 1 enables, 2 disables. After an error, none is changed. */
async function switchTokens(ids: readonly number[], status: 1 | 2): Promise<void> {
  const [id = 0] = ids
  if (ids.length > 1)
    await call('POST /api/token/batch/status', { body: { ids: [...ids], status } })
  else await call('PUT /api/token/', { query: { status_only: true }, body: { id, status } })
}
