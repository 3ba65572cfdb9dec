/// The page's style: light and dark, from 320 px up, and on paper.
enum HTMLStyle {
    static let text = """
        :root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--page:#fff;--card:#f6f8fa;
        --good:#116329;--bad:#a40e26;\(ChartStyle.variables(ChartStyle.light))}
        @media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9aa4af;--line:#3b434c;--page:#0f1318;--card:#181e25;
        --good:#56d364;--bad:#ff8f87;\(ChartStyle.variables(ChartStyle.dark))}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
        main{max-width:1120px;margin:0 auto;padding:16px}
        h1{font-size:1.6em;margin:.2em 0;overflow-wrap:anywhere}
        header p{color:var(--dim);margin:0;overflow-wrap:anywhere}
        h2{font-size:1.15em;margin:1.6em 0 .6em;padding-bottom:.2em;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
        p{margin:.6em 0}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:8px;margin:0}
        .figures div{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:8px 10px}
        dt{color:var(--dim);font-size:.85em}
        dd{margin:0;font-size:1.12em;font-weight:600;font-variant-numeric:tabular-nums}
        dd small{display:block;color:var(--dim);font-size:.7em;font-weight:400}
        .charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:12px;max-width:1120px}
        .charts+.charts{margin-top:12px}
        figure{margin:0;padding:8px 10px;border:1px solid var(--line);border-radius:6px;break-inside:avoid;min-width:0;}
        figcaption{font-weight:600;font-size:.93em;margin-bottom:4px}
        svg{display:block;width:100%;height:auto}
        svg text{font-size:12px;fill:var(--ink);paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
        .grid{stroke:var(--line);stroke-width:1;stroke-opacity:.6}
        .line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
        circle,.mark{fill:currentColor}
        .bound{fill:none;stroke:currentColor;stroke-width:1.3;stroke-dasharray:5 3}
        .cell{fill:var(--c0);stroke:var(--line)}
        .cell.best{stroke:var(--ink);stroke-width:2.5}
        .cell.front{stroke:var(--c1);stroke-width:2;stroke-dasharray:4 2}
        .change{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:3 3}
        .band{fill:var(--ink);fill-opacity:.05}
        .instant{stroke:var(--ink);stroke-opacity:.35;stroke-dasharray:2 2}
        svg .stage,svg .tick{fill:var(--dim)}
        .pointer>g>rect{fill:transparent}
        .pointer>g>g{visibility:hidden;pointer-events:none}
        .pointer>g:hover>g{visibility:visible}
        .pointer text{stroke:none}
        .pointer path{stroke:var(--dim)}
        .pointer>g>g>rect{fill:var(--card);stroke:var(--line)}
        .bar{fill:var(--c0)}
        .outline{fill:none;stroke:var(--c1);stroke-width:1.5;stroke-dasharray:4 2}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:4px 0 0;padding:0;font-size:.87em}
        .legend li{display:flex;align-items:center;gap:6px;overflow-wrap:anywhere}
        .key{width:34px;flex:none}
        .wide{display:inline-block;vertical-align:top;max-width:100%;overflow-x:auto;margin:.6em 40px .6em 0}
        .scrolls{margin-right:0}
        .scrolls th:first-child{position:sticky;left:0;background:var(--page)}
        .far::before{content:"scroll sideways \\2192";position:sticky;left:0;color:var(--dim);font-size:.82em}
        tbody tr:hover>*{background:var(--card)}
        table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.93em}
        th,td{padding:4px 12px 4px 0;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;vertical-align:top}
        th:first-child{text-align:left}
        tbody th{font-weight:400}
        thead th{font-weight:600;color:var(--dim)}
        details{margin:.6em 0}
        details td{white-space:normal;overflow-wrap:anywhere;text-align:left}
        details thead th{text-align:left}
        summary{cursor:pointer;font-weight:600}
        .verdicts{list-style:none;margin:0;padding:8px 12px;background:var(--card);border-left:4px solid var(--good);
        border-radius:0 6px 6px 0}
        .wrong{border-color:var(--bad)}
        .verdicts li{padding:1px 0 1px 1.5em;text-indent:-1.5em;overflow-wrap:anywhere}
        .good::before{content:"\\2713";display:inline-block;width:1.5em;text-indent:0;font-weight:700;color:var(--good)}
        .bad::before{content:"\\2717";display:inline-block;width:1.5em;text-indent:0;font-weight:700;color:var(--bad)}
        .bad{color:var(--bad)}
        @media (max-width:600px){main{padding:12px}.figures{grid-template-columns:1fr 1fr}svg text{font-size:14.5px}
        .scrolls::before{content:"scroll sideways \\2192";position:sticky;left:0;color:var(--dim);font-size:.82em}}
        @media print{:root{--ink:#000;--dim:#444;--line:#bbb;--page:#fff;--card:#fff;--good:#116329;--bad:#a40e26;
        \(ChartStyle.variables(ChartStyle.light))}body{font-size:11px}main{max-width:none;padding:0}
        .wide{overflow:visible}.pointer{display:none}.scrolls::before{content:none}h2{break-after:avoid}tr,.figures div{break-inside:avoid}
        details::details-content{content-visibility:visible;block-size:auto}summary{break-after:avoid}
        table{font-size:.9em}th,td{padding:2px 8px 2px 0}td,tbody th{white-space:normal;overflow-wrap:anywhere}
        .charts{grid-template-columns:1fr 1fr}.figures{grid-template-columns:repeat(4,1fr)}}
        @page{margin:14mm}
        """
}
