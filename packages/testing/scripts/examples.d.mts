export declare const extract: () => ReadonlyArray<{ readonly name: string; readonly file: string }>
