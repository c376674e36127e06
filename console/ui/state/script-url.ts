type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

/** Returns a function for the URL of a script, the only URL that the policy `policyName` allows. */
export function createScriptUrl(policyName: string, url: string): () => string {
  let policy: ScriptPolicy | undefined
  return () => {
    const { trustedTypes } = globalThis as Globals
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: () => url })
    return policy?.createScriptURL(url) ?? url
  }
}
