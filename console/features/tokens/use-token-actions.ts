import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { deleteToken } from '#console/api/tokens/delete-token.ts'
import { type TokenPage, tokensKey } from '#console/api/tokens/list-tokens.ts'
import { changeTokenStatus } from '#console/api/tokens/update-token.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { copyText } from '#console/ui/copy-text.ts'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { Token } from '#read-api/contract/token.ts'
import { fullKey } from './token-key.ts'

export type TokenActions = {
  setEnabled: (token: Token, isEnabled: boolean) => Promise<void>
  remove: (tokens: readonly Token[]) => Promise<boolean>
  copyKeys: (tokens: readonly Token[]) => Promise<void>
}

/** What can be done to tokens of the list; the list shows it before the server has answered. */
export function useTokenActions(): TokenActions {
  const { t } = useTranslation()
  const client = useQueryClient()
  const reload = () => client.invalidateQueries({ queryKey: tokensKey })
  const show = (id: number, status: number) =>
    client.setQueriesData<TokenPage>({ queryKey: tokensKey }, (page) =>
      withStatus(page, id, status),
    )
  const setEnabled = async (token: Token, isEnabled: boolean) => {
    const status = isEnabled ? 1 : 2
    await client.cancelQueries({ queryKey: tokensKey })
    show(token.id, status)
    try {
      await changeTokenStatus(token.id, status)
    } catch (error) {
      show(token.id, token.status)
      showError(error)
      return
    }
    await reload()
    const undo = () => void setEnabled({ ...token, status }, !isEnabled)
    showSuccess(t(isEnabled ? 'tokens.enabled' : 'tokens.disabled', { name: token.name }), {
      action: { text: t('ui.undo'), onClick: undo },
    })
  }
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
    const words = { title, body: t('tokens.deleteBody'), confirmText: t('tokens.delete') }
    if (!(await confirm({ ...words, tone: 'danger' }))) return false
    const results = await Promise.allSettled(tokens.map(({ id }) => deleteToken(id)))
    await reload()
    const failed = results.filter((result) => result.status === 'rejected')
    const done = results.length - failed.length
    const reason = failed[0]?.reason instanceof Error ? failed[0].reason.message : ''
    if (failed.length === 0) showSuccess(t('tokens.deleted', { count: done }))
    else showError(t('tokens.someFailed', { done, failed: failed.length, reason }))
    return true
  }
  const copyKeys = async (tokens: readonly Token[]) => {
    if (tokens.length === 0) return showError(t('tokens.chooseFirst'))
    const text = tokens.map(({ key }) => fullKey(key)).join('\n')
    if (await copyText(text)) showSuccess(t('tokens.keysCopied', { count: tokens.length }))
  }
  return { setEnabled, remove, copyKeys }
}

function withStatus(page: TokenPage | undefined, id: number, status: number) {
  if (page === undefined) return undefined
  const items = page.items.map((token) => (token.id === id ? { ...token, status } : token))
  return { ...page, items }
}
