export type SetOption = {
  readonly type: 'SetOption'
  readonly key: string
  readonly value: string
}

/** `secretRef`: vault reference of the text; empty clears the option. */
export type SetSecretOption = {
  readonly type: 'SetSecretOption'
  readonly key: string
  readonly secretRef: string
}

export type OptionsCommand = SetOption | SetSecretOption
