"""The eleven sectors and their vocabularies. Each list is cut in three parts, one per split, so no term is shared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sector:
    """The terms of one sector, over all splits.

    `suffixes` end company names. All splits use them, but not the same names. The other lists are cut in three parts.
    """

    name: str
    suffixes: tuple[str, ...]
    related: tuple[str, ...]
    """The affinity map: sectors whose roles also occur at the employers of this sector."""
    titles: tuple[str, ...]
    skills: tuple[str, ...]
    certifications: tuple[str, ...]
    projects: tuple[str, ...]
    fields: tuple[str, ...]


def _terms(text: str) -> tuple[str, ...]:
    return tuple(term.strip() for term in text.replace("\n", " ").split(";"))


SECTORS = (
    Sector(
        name="software",
        suffixes=("Software", "Systems", "Cloud", "Digital", "Computing", "Data"),
        related=("finance", "media"),
        titles=_terms(
            """Backend Engineer; Site Reliability Engineer; Data Engineer; Frontend Developer; Security Engineer;
            Machine Learning Engineer; Database Administrator; Mobile Developer; Platform Architect;
            Test Automation Engineer; Release Manager; Embedded Developer; Product Designer; Systems Analyst;
            Network Engineer; Support Engineer; Technical Writer; Engineering Manager"""
        ),
        skills=_terms(
            """Kubernetes orchestration; stream processing; query optimisation; threat modelling; container security;
            feature engineering; incident response; API design; distributed tracing; schema migration; load testing;
            accessibility engineering; compiler tooling; firmware debugging; service meshes; infrastructure as code;
            model serving; graph databases; event sourcing; code review; penetration testing; cache design;
            type systems; data lineage"""
        ),
        certifications=_terms(
            """Certified Cloud Platform Engineer; Certified Incident Commander; Secure Coding Practitioner;
            Data Pipeline Specialist; Certified Penetration Tester; Distributed Systems Associate;
            Accredited Scrum Facilitator; Certified Database Specialist; Machine Learning Operations Professional;
            Mobile Application Specialist; Network Operations Expert; Software Quality Examiner"""
        ),
        projects=_terms(
            """billing platform rewrite; log search service; customer identity gateway; fraud scoring engine;
            build farm migration; offline sync client; multi-region failover; feature flag console;
            developer portal; image recognition service; recommendation engine; audit trail store;
            message broker upgrade; checkout redesign; edge cache rollout; crash reporting pipeline;
            data warehouse consolidation; single sign-on rollout"""
        ),
        fields=_terms(
            """Computer Science; Software Engineering; Information Systems; Data Science; Cybersecurity;
            Human-Computer Interaction"""
        ),
    ),
    Sector(
        name="finance",
        suffixes=("Capital", "Bank", "Partners", "Investments", "Credit", "Asset Management"),
        related=("law", "software"),
        titles=_terms(
            """Credit Analyst; Portfolio Manager; Risk Officer; Investment Associate; Treasury Manager;
            Compliance Analyst; Actuary; Internal Auditor; Loan Officer; Financial Controller;
            Quantitative Researcher; Fund Accountant; Claims Underwriter; Wealth Advisor; Derivatives Trader;
            Payments Manager; Mergers Analyst; Pricing Manager"""
        ),
        skills=_terms(
            """credit scoring; cash-flow forecasting; stress testing; bond pricing; hedging strategy;
            anti-money-laundering checks; portfolio rebalancing; option valuation; regulatory reporting;
            liquidity planning; reserve modelling; consolidation accounting; due diligence; tax planning;
            reconciliation; mortgage underwriting; market surveillance; variance analysis; capital allocation;
            loss modelling; fund administration; invoice factoring; currency management; audit sampling"""
        ),
        certifications=_terms(
            """Chartered Risk Analyst; Certified Credit Professional; Licensed Investment Adviser;
            Certified Treasury Specialist; Accredited Fund Accountant; Certified Fraud Auditor;
            Financial Modelling Specialist; Registered Actuarial Fellow; Certified Anti-Money-Laundering Officer;
            Derivatives Markets Diploma; Chartered Wealth Planner; Certified Payments Professional"""
        ),
        projects=_terms(
            """small-business loan scorecard; liquidity dashboard; pension fund migration; mortgage book review;
            payment fraud screen; treasury cash pooling; catastrophe bond issue; branch profitability study;
            insurance claims triage; trade surveillance overhaul; year-end close automation; green bond framework;
            currency hedge programme; customer due-diligence backlog; reserve adequacy model;
            card interchange review; merger valuation; microcredit pilot"""
        ),
        fields=_terms(
            """Finance; Accounting; Economics; Actuarial Science; Financial Mathematics; Business Administration"""
        ),
    ),
    Sector(
        name="healthcare",
        suffixes=("Health", "Clinics", "Hospital", "Diagnostics", "Care", "Medical"),
        related=("biotechnology", "software"),
        titles=_terms(
            """Charge Nurse; Clinical Pharmacist; Radiographer; Physiotherapist; Health Informatics Manager;
            Ward Coordinator; Occupational Therapist; Laboratory Scientist; Infection Control Lead; Dietitian;
            Paramedic Supervisor; Speech Therapist; Clinical Trials Nurse; Medical Coder; Patient Safety Officer;
            Anaesthesia Technician; Community Midwife; Palliative Care Nurse"""
        ),
        skills=_terms(
            """triage; wound care; medication reconciliation; discharge planning; ultrasound imaging;
            infection surveillance; gait analysis; nutrition assessment; electronic health records;
            ventilator management; blood-gas analysis; patient counselling; clinical coding; pain management;
            cardiac monitoring; stroke rehabilitation; neonatal care; specimen handling; sterile processing;
            care pathway design; vaccination outreach; geriatric assessment; dosage calculation; telemedicine"""
        ),
        certifications=_terms(
            """Advanced Life Support Provider; Certified Wound Specialist; Clinical Informatics Associate;
            Certified Infection Preventionist; Registered Imaging Technologist; Neonatal Resuscitation Provider;
            Certified Medical Coder; Oncology Nursing Certificate; Certified Diabetes Educator;
            Patient Safety Practitioner; Stroke Care Certificate; Hospital Pharmacy Specialist"""
        ),
        projects=_terms(
            """patient intake redesign; sepsis early-warning chart; outpatient booking portal;
            operating theatre scheduling; falls prevention drive; bedside barcode rollout; hand hygiene campaign;
            stroke pathway audit; rural telehealth service; antibiotic stewardship programme;
            maternity ward refurbishment; vaccination clinic; medical record digitisation;
            emergency department flow study; home dialysis pilot; chronic pain clinic; blood bank inventory;
            hospice volunteer scheme"""
        ),
        fields=_terms("""Nursing; Pharmacy; Public Health; Biomedical Science; Physiotherapy; Health Administration"""),
    ),
    Sector(
        name="biotechnology",
        suffixes=("Biosciences", "Therapeutics", "Genomics", "Biologics", "Pharma", "Life Sciences"),
        related=("healthcare", "agriculture"),
        titles=_terms(
            """Research Scientist; Process Development Engineer; Bioinformatician; Regulatory Affairs Manager;
            Formulation Chemist; Cell Culture Technician; Toxicologist; Assay Development Lead;
            Clinical Data Manager; Quality Assurance Specialist; Protein Chemist; Fermentation Engineer;
            Medical Science Liaison; Genetic Counsellor; Validation Engineer; Immunologist; Biostatistician;
            Laboratory Manager"""
        ),
        skills=_terms(
            """gene editing; protein purification; sequence alignment; assay validation; cell line development;
            mass spectrometry; bioreactor scale-up; flow cytometry; clinical protocol writing;
            pharmacokinetic modelling; stability testing; antibody screening; chromatography; sample biobanking;
            variant calling; cleanroom practice; dose-response analysis; crystallography; lipid formulation;
            microscopy; fermentation control; viral vector design; adverse-event reporting; RNA extraction"""
        ),
        certifications=_terms(
            """Good Laboratory Practice Certificate; Certified Clinical Data Manager; Regulatory Affairs Certificate;
            Biosafety Officer Licence; Good Manufacturing Practice Auditor; Certified Toxicology Specialist;
            Genomic Analysis Certificate; Clinical Research Associate Licence; Cleanroom Operations Certificate;
            Certified Quality Biologist; Pharmacovigilance Certificate; Process Validation Specialist"""
        ),
        projects=_terms(
            """malaria vaccine trial; enzyme yield programme; tumour biomarker panel; gene therapy filing;
            insulin biosimilar; rapid antigen test; stem cell bank; peptide library screen; rare disease registry;
            plasma fractionation line; allergy immunotherapy study; microbiome atlas; freeze-drying optimisation;
            tissue scaffold prototype; companion diagnostic; antiviral screening campaign; neonatal screening kit;
            bioprocess digital twin"""
        ),
        fields=_terms(
            """Molecular Biology; Biochemistry; Bioinformatics; Pharmacology; Genetics; Biomedical Engineering"""
        ),
    ),
    Sector(
        name="energy",
        suffixes=("Energy", "Power", "Renewables", "Grid", "Utilities", "Solar"),
        related=("manufacturing", "construction"),
        titles=_terms(
            """Grid Operations Engineer; Wind Farm Technician; Reservoir Engineer; Energy Trader; Substation Designer;
            Solar Project Developer; Pipeline Inspector; Nuclear Safety Analyst; Turbine Engineer;
            Metering Specialist; Hydropower Operator; Emissions Analyst; Battery Systems Engineer;
            Drilling Supervisor; Power Markets Analyst; Protection Engineer; Energy Auditor; Plant Shift Manager"""
        ),
        skills=_terms(
            """load forecasting; turbine maintenance; relay protection; seismic interpretation; photovoltaic design;
            outage planning; emissions accounting; power-flow modelling; well logging; switchgear testing;
            battery sizing; demand response; heat-rate analysis; pipeline integrity; blade inspection;
            permit-to-work control; tariff design; corrosion monitoring; wind resource assessment;
            high-voltage commissioning; geothermal surveying; hydrogen handling; control-room operation;
            energy auditing"""
        ),
        certifications=_terms(
            """Certified Energy Manager; High-Voltage Switching Permit; Wind Turbine Safety Certificate;
            Grid Operator Licence; Photovoltaic Installer Certificate; Well Control Certificate;
            Certified Emissions Verifier; Pipeline Welding Inspector; Nuclear Operations Certificate;
            Battery Storage Specialist; Thermal Plant Engineer Licence; Certified Power Quality Analyst"""
        ),
        projects=_terms(
            """offshore wind extension; substation refurbishment; district heating loop; rooftop solar programme;
            smart meter rollout; peaker plant retrofit; tidal barrage study; gas leak survey; battery storage park;
            interconnector upgrade; coal plant closure; geothermal test well; hydrogen refuelling network;
            dam spillway repair; microgrid for islands; transformer replacement; flare gas recovery;
            demand response pilot"""
        ),
        fields=_terms(
            """Electrical Engineering; Renewable Energy; Petroleum Engineering; Nuclear Engineering;
            Environmental Engineering; Energy Policy"""
        ),
    ),
    Sector(
        name="manufacturing",
        suffixes=("Manufacturing", "Robotics", "Industries", "Works", "Automotive", "Materials"),
        related=("energy", "logistics"),
        titles=_terms(
            """Production Supervisor; Tooling Engineer; Quality Inspector; Robotics Technician; Process Engineer;
            Materials Scientist; Maintenance Planner; Mechanical Designer; Plant Manager; Welding Engineer;
            Supply Planner; Automation Engineer; Metrology Technician; Packaging Engineer; Industrial Designer;
            Foundry Supervisor; Assembly Line Lead; Reliability Engineer"""
        ),
        skills=_terms(
            """lean production; statistical process control; robot programming; injection moulding; failure analysis;
            tolerance stacking; preventive maintenance; computer-aided design; five-axis machining; laser welding;
            root-cause analysis; line balancing; heat treatment; machine vision; additive manufacturing;
            value-stream mapping; casting simulation; surface finishing; coordinate measurement; composite layup;
            hydraulic troubleshooting; ergonomic design; sheet-metal forming; production scheduling"""
        ),
        certifications=_terms(
            """Lean Six Sigma Black Belt; Certified Welding Supervisor; Robot Safety Certificate;
            Certified Quality Technician; Nondestructive Testing Certificate; Certified Maintenance Planner;
            Machine Vision Specialist; Precision Metrology Certificate; Additive Manufacturing Certificate;
            Certified Packaging Professional; Industrial Automation Licence; Foundry Process Certificate"""
        ),
        projects=_terms(
            """gearbox assembly line; paint shop automation; scrap reduction drive; bearing wear study;
            press line safety upgrade; battery tray tooling; warehouse robot cell; engine block casting;
            recyclable packaging switch; spare parts printing; torque audit system; clean-energy kiln;
            door panel redesign; conveyor replacement; digital work instructions; compressor noise programme;
            supplier quality scheme; valve durability rig"""
        ),
        fields=_terms(
            """Mechanical Engineering; Industrial Engineering; Materials Science; Robotics; Manufacturing Systems;
            Industrial Design"""
        ),
    ),
    Sector(
        name="media",
        suffixes=("Media", "Studios", "Press", "Pictures", "Broadcasting", "Publishing"),
        related=("software", "construction"),
        titles=_terms(
            """Commissioning Editor; Video Producer; Sound Designer; Investigative Reporter; Art Director;
            Audience Analyst; Copy Chief; Motion Designer; Documentary Researcher; Podcast Producer; Picture Editor;
            Localisation Manager; Brand Strategist; Script Supervisor; Broadcast Engineer; Newsletter Editor;
            Rights Manager; Colour Grader"""
        ),
        skills=_terms(
            """story editing; colour correction; interview technique; audience segmentation; sound mixing;
            archive research; data journalism; typography; rights negotiation; live broadcasting; motion graphics;
            fact checking; subtitling; podcast scripting; campaign planning; photo retouching; set design;
            headline writing; documentary filming; print layout; voice direction; content licensing;
            social listening; festival programming"""
        ),
        certifications=_terms(
            """Certified Broadcast Technologist; Media Law Certificate; Professional Editors Diploma;
            Digital Advertising Certificate; Accredited Subtitler; Certified Colour Specialist;
            Investigative Journalism Certificate; Audio Production Diploma; Certified Brand Planner;
            Photo Archive Certificate; Drone Filming Licence; Accessible Publishing Certificate"""
        ),
        projects=_terms(
            """coastal history documentary; election night broadcast; weekly science podcast;
            photo archive restoration; children's book series; subscription relaunch; museum sound guide;
            investigative water series; travel magazine redesign; animated title sequence; sports rights bid;
            local radio network; language course videos; crime drama season; climate newsletter;
            music festival stream; encyclopaedia update; independent film fund"""
        ),
        fields=_terms(
            """Journalism; Film Studies; Graphic Design; Communication; Sound Engineering; Comparative Literature"""
        ),
    ),
    Sector(
        name="law",
        suffixes=("Law", "Legal", "Chambers", "Advocates", "Counsel", "Notaries"),
        related=("finance", "logistics"),
        titles=_terms(
            """Litigation Associate; Corporate Counsel; Patent Attorney; Paralegal; Contracts Manager;
            Compliance Counsel; Immigration Adviser; Legal Researcher; Mediator; Tax Solicitor; Privacy Officer;
            Employment Lawyer; Notary; Court Clerk; Licensing Counsel; Insolvency Practitioner; Public Defender;
            Planning Solicitor"""
        ),
        skills=_terms(
            """contract drafting; witness preparation; patent searching; merger control; document discovery;
            legal research; arbitration; privacy impact assessment; deposition; trademark filing; lease negotiation;
            case management; appellate briefing; visa applications; conveyancing; sanctions screening;
            settlement negotiation; licensing agreements; bankruptcy filings; labour disputes; cross-examination;
            statutory interpretation; estate planning; tender review"""
        ),
        certifications=_terms(
            """Certified Mediator; Registered Patent Agent; Data Protection Officer Certificate;
            Certified Legal Project Manager; Notarial Practice Licence; Certified Contracts Manager;
            Arbitration Fellowship; Electronic Discovery Certificate; Immigration Practice Licence;
            Certified Trust Practitioner; Trial Advocacy Diploma; Public Procurement Certificate"""
        ),
        projects=_terms(
            """class action defence; patent portfolio review; privacy policy overhaul; harbour lease dispute;
            cross-border merger filing; asylum casework clinic; pro bono housing desk; trade secret injunction;
            contract template library; whistleblower inquiry; estate settlement; antitrust investigation;
            licensing renegotiation; water rights appeal; school district arbitration; shipping insolvency;
            zoning challenge; collective bargaining round"""
        ),
        fields=_terms(
            """Law; Political Science; International Relations; Criminology; Tax Law; Intellectual Property Law"""
        ),
    ),
    Sector(
        name="logistics",
        suffixes=("Logistics", "Freight", "Shipping", "Transport", "Couriers", "Supply"),
        related=("manufacturing", "agriculture"),
        titles=_terms(
            """Warehouse Manager; Route Planner; Customs Broker; Fleet Coordinator; Port Operations Officer;
            Inventory Analyst; Freight Forwarder; Dispatch Supervisor; Cold Chain Specialist; Procurement Officer;
            Air Cargo Agent; Rail Scheduler; Demand Planner; Load Controller; Ship Chandler; Depot Manager;
            Parcel Network Planner; Fleet Safety Officer"""
        ),
        skills=_terms(
            """route optimisation; customs clearance; warehouse slotting; fleet telematics; demand planning;
            container tracking; cold-chain monitoring; tariff classification; cross-docking; carrier negotiation;
            stock auditing; berth scheduling; dangerous-goods handling; last-mile delivery; freight auditing;
            driver rostering; load planning; reverse logistics; supplier scorecards; import licensing;
            yard management; pallet engineering; air-waybill processing; fuel management"""
        ),
        certifications=_terms(
            """Certified Customs Specialist; Dangerous Goods Licence; Certified Supply Chain Planner;
            Fleet Manager Certificate; Air Cargo Security Certificate; Certified Inventory Professional;
            Port Captain Certificate; Cold Chain Certificate; Transport Manager Licence;
            Certified Procurement Professional; Forklift Instructor Licence; Rail Operations Certificate"""
        ),
        projects=_terms(
            """parcel hub relocation; vaccine cold chain; container yard redesign; electric van trial;
            customs paperless gateway; grocery delivery network; pallet pooling scheme; harbour congestion plan;
            rail freight corridor; returns processing centre; humanitarian airlift; fuel saving programme;
            night delivery pilot; inland port study; spare parts depot; cross-border trucking lane;
            driver safety coaching; stock count automation"""
        ),
        fields=_terms(
            """Supply Chain Management; Transport Engineering; Operations Research; Maritime Studies;
            International Trade; Aviation Management"""
        ),
    ),
    Sector(
        name="agriculture",
        suffixes=("Farms", "Foods", "Agritech", "Harvest", "Seeds", "Growers"),
        related=("biotechnology", "logistics"),
        titles=_terms(
            """Agronomist; Dairy Manager; Irrigation Engineer; Soil Scientist; Food Safety Auditor; Crop Adviser;
            Livestock Veterinarian; Greenhouse Manager; Seed Analyst; Vineyard Manager; Fisheries Officer;
            Grain Buyer; Orchard Foreman; Forestry Planner; Product Development Chef; Apiary Manager; Plant Breeder;
            Farm Machinery Engineer"""
        ),
        skills=_terms(
            """soil sampling; crop rotation; drip irrigation; herd health; pest forecasting; yield mapping;
            food safety auditing; seed selection; greenhouse climate control; pasture management; grain storage;
            animal nutrition; grafting; organic certification; milk quality testing; harvest logistics;
            water budgeting; plant pathology; drone scouting; feed formulation; fish stocking; composting;
            sensory evaluation; tractor calibration"""
        ),
        certifications=_terms(
            """Certified Crop Adviser; Pesticide Applicator Licence; Organic Inspector Certificate;
            Food Hygiene Supervisor Certificate; Certified Irrigation Designer; Livestock Welfare Officer;
            Seed Testing Certificate; Dairy Quality Assessor; Certified Arborist; Precision Farming Certificate;
            Beekeeping Master Certificate; Fisheries Observer Licence"""
        ),
        projects=_terms(
            """drought-tolerant maize trial; robotic milking barn; orchard frost alarm; river basin irrigation;
            organic conversion; grain traceability ledger; oyster bed restoration; vertical farm prototype;
            vineyard replanting; beekeeping cooperative; manure biogas plant; potato blight alert;
            school lunch supply; heirloom seed bank; pasture rewilding; tomato grading line;
            sheep genetics programme; compost collection scheme"""
        ),
        fields=_terms("""Agronomy; Food Science; Animal Science; Soil Science; Horticulture; Forestry"""),
    ),
    Sector(
        name="construction",
        suffixes=("Construction", "Builders", "Engineering", "Architects", "Developments", "Infrastructure"),
        related=("energy", "manufacturing"),
        titles=_terms(
            """Site Manager; Structural Engineer; Quantity Surveyor; Project Architect; Building Inspector;
            Geotechnical Engineer; Crane Supervisor; Facade Designer; Estimator; Tunnelling Engineer; Land Surveyor;
            Urban Planner; Interior Architect; Scaffolding Foreman; Heritage Consultant; Bridge Engineer;
            Plumbing Contractor; Contract Administrator"""
        ),
        skills=_terms(
            """building information modelling; concrete testing; cost estimation; foundation design;
            site safety planning; seismic retrofitting; land surveying; zoning analysis; timber framing;
            tender preparation; facade detailing; tunnel ventilation; drainage design; crane scheduling;
            energy modelling; steel detailing; heritage restoration; acoustic design; contract administration;
            groundwater control; fire engineering; daylight simulation; formwork design; snagging inspection"""
        ),
        certifications=_terms(
            """Certified Construction Manager; Chartered Quantity Surveyor; Site Safety Supervisor Card;
            Certified Building Modeller; Accredited Passive House Designer; Licensed Land Surveyor;
            Scaffold Inspector Certificate; Fire Door Assessor; Certified Bridge Inspector; Heritage Skills Card;
            Concrete Technologist Certificate; Crane Operations Licence"""
        ),
        projects=_terms(
            """river footbridge; hospital wing extension; metro station box; social housing block; library restoration;
            flood wall scheme; airport apron resurfacing; timber office tower; stadium roof; school retrofit;
            harbour promenade; sewer tunnel; concert hall acoustics; cable-stayed bridge; market hall conversion;
            student residence; motorway junction; lighthouse conservation"""
        ),
        fields=_terms(
            """Civil Engineering; Architecture; Urban Planning; Surveying; Structural Engineering;
            Construction Management"""
        ),
    ),
)
